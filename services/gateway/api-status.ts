import { Type } from '#kit/schema.ts';
import { callerOf } from './api-guard.ts';
import type { ApiParts } from './api-parts.ts';
import { dataOf, operation } from './api-schemas.ts';
import { integrationNames } from './integrations.ts';
import { routes } from './routes.ts';
import { uptimeText } from './uptime.ts';

const AdminStatus = Type.Object(
  {
    environment: Type.String(),
    uptime: Type.String(),
    integrations: Type.Object(Object.fromEntries(integrationNames.map((name) => [name, Type.Boolean()]))),
    rpc: Type.Object({ postsvc: Type.String(), authsvc: Type.String() }),
    requestedBy: Type.String(),
  },
  {
    examples: [
      {
        environment: 'development',
        uptime: '72h3m0.5s',
        integrations: Object.fromEntries(integrationNames.map((name) => [name, false])),
        rpc: { postsvc: 'in-process', authsvc: 'in-process' },
        requestedBy: 'admin',
      },
    ],
  },
);

type Parts = Pick<ApiParts, 'app' | 'permits' | 'clock' | 'environment' | 'integrations' | 'rpcAddresses'>;

export function addStatus({ app, permits, clock, environment, integrations, rpcAddresses }: Parts): void {
  const startedMs = clock.now();
  app.get(
    routes.adminStatus,
    {
      access: permits('admin', 'read'),
      schema: {
        ...operation('getAdminStatus', 'What runs and what is enabled'),
        response: { 200: dataOf(AdminStatus) },
      },
    },
    async (request) => ({
      data: {
        environment,
        uptime: uptimeText(clock.now() - startedMs),
        integrations: { ...integrations },
        rpc: { ...rpcAddresses },
        requestedBy: callerOf(request).username,
      },
    }),
  );
}
