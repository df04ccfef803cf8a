import type { PageRoutes } from '#kit/html/pages.ts';
import { answers } from '../integration-figures.ts';
import type { Integration, IntegrationChecks } from '../integrations.ts';
import { pageRoutes } from '../page-routes.ts';
import { uptimeText } from '../uptime.ts';
import { statusPage } from '../views/status.ts';
import type { PageParts, Ticket } from './parts.ts';
import type { Readers } from './reader.ts';

export function addStatusPage(routes: PageRoutes<Ticket>, readers: Readers, parts: PageParts): void {
  const { clock, checks, integrationChecks, environment, integrations, rpcAddresses: rpc } = parts;
  const startedMs = clock.now();
  routes.get(pageRoutes.status, { access: readers('admin', 'read') }, async ({ caller, frame }) => {
    const [postsvc, authsvc, reached] = await Promise.all([
      answers(checks.postsvc),
      answers(checks.authsvc),
      answering(integrationChecks),
    ]);
    const uptime = uptimeText(clock.now() - startedMs);
    const requestedBy = caller.username;
    return statusPage(frame(), {
      environment,
      uptime,
      integrations,
      reached,
      rpc,
      answers: { postsvc, authsvc },
      requestedBy,
    });
  });
}

async function answering(checks: IntegrationChecks): Promise<Partial<Record<Integration, boolean>>> {
  const names = Object.keys(checks) as Integration[];
  const asked = names.map(async (name) => {
    const check = checks[name];
    return [name, check !== undefined && (await answers(check))];
  });
  return Object.fromEntries(await Promise.all(asked));
}
