import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Environment, SuiteSite } from '@octavo/core';
import { systemClock } from '@octavo/core';
import { configOf, type ServiceContext } from '@octavo/data/service';
import { testContext } from '@octavo/testing';
import { createSuite } from '@octavo/web/html';
import { type PortalDeps, portal } from './service.ts';

const signIns = [{ username: 'editor', password: 'a<b & "c"', role: 'editor', service: 'good' }];

/** A service of a suite. */
export const siteOf = (name: string, url: string): SuiteSite => ({
  name,
  title: name.toUpperCase(),
  summary: `Does what ${name} does`,
  mark: { icon: 'pen', accent: 'teal' },
  url,
});

/** A command in place of `octavo seed`. */
export const seedWith = (code: string) => ({ file: process.execPath, args: ['-e', code], environment: {} });

/** Starts a portal for these services. */
export function start(
  sites: readonly SuiteSite[],
  context: Partial<ServiceContext> = {},
  environment: Environment = {},
  deps: Partial<PortalDeps> = {},
) {
  return portal.start(
    configOf(portal, environment),
    testContext('portal', {
      clock: systemClock,
      dataFolder: '/tmp',
      environment: 'development',
      suite: createSuite({ own: siteOf('portal', ''), sites: () => sites }),
      ...context,
    }),
    {
      entrances: {},
      signInHints: { plain: 'after registering there' },
      metrics: {},
      demoSignIns: async () => signIns,
      seeding: { seedable: ['good', 'other'], command: seedWith('') },
      needsDatabaseUrl: false,
      recentErrors: () => [],
      mailFolders: {},
      samples: {},
      ...deps,
    },
  );
}

/** A service whose readiness has a status, or never responds. */
export async function startSite(name: string, status: number | undefined, metrics = () => '') {
  const server = createServer((request, response) => {
    if (status === undefined) return;
    if (request.url === '/metrics') return void response.end(metrics());
    const body = { checks: { database: status === 200 ? 'ok' : 'failing: no answer', disk: 'ok' } };
    response.writeHead(request.url === '/readiness' ? status : 404).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    site: siteOf(name, url),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export const pageOf = async (url = '') => (await fetch(url)).text();
