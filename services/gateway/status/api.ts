import { Type } from '@octavo/core';
import type { HttpApp } from '@octavo/web/server';
import { callerOf, type Permits } from '../access/index.ts';
import { routes } from '../routes.ts';
import { type Integrations, integrationNames } from './integrations.ts';
import type { RpcAddresses } from './status.ts';

const AdminStatus = Type.Object(
  {
    environment: Type.String(),
    uptime: Type.String(),
    integrations: Type.Object(Object.fromEntries(integrationNames.map((name) => [name, Type.Boolean()]))),
    rpc: Type.Object({ postsvc: Type.String(), authsvc: Type.String() }),
    requestedBy: Type.String(),
  },
  {
    title: 'AdminStatus',
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

interface Parts {
  readonly permits: Permits;
  readonly integrations: Integrations;
  readonly environment: string;
  readonly rpcAddresses: RpcAddresses;
  readonly uptime: () => string;
}

export function addStatus(app: HttpApp, parts: Parts): void {
  const { permits, integrations, environment, rpcAddresses, uptime } = parts;
  app.get(
    routes.adminStatus,
    {
      access: permits('admin', 'read'),
      schema: {
        operationId: 'getAdminStatus',
        tags: ['Administration'],
        summary: 'Parts of the service, and enabled integrations',
        description:
          'Returns the state of each backend, how long it took to answer, and which integrations are set.',
        response: { 200: Type.Object({ data: AdminStatus }) },
      },
    },
    async (request) => ({
      data: {
        environment,
        uptime: uptime(),
        integrations: await integrations.enabled(),
        rpc: { ...rpcAddresses },
        requestedBy: callerOf(request).username,
      },
    }),
  );
}
