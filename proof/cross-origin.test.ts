import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { test } from 'node:test';
import { testFolder } from '@octavo/testing';
import type { FastifyInstance } from 'fastify';
import { startSystem, upNames } from '../apps/octavo/index.ts';

interface Server {
  readonly app: FastifyInstance;
  readonly paths: Set<string>;
}

const settings = ['CORS_ORIGIN', 'PASSWORDLESS_CORS_ORIGIN', 'QUOTES_CORS_ORIGIN', 'BUDGETS_CORS_ORIGIN'];

test('pages of other origins may read only the API of every service', { timeout: 180_000 }, async () => {
  const servers = collectServers();
  const environment = {
    NODE_ENV: 'test',
    LOG_LEVEL: 'silent',
    OCTAVO_DATA: testFolder('cross-origin'),
    ARGON2_MEMORY_KIB: '8',
    ARGON2_PASSES: '1',
    ...Object.fromEntries(settings.map((name) => [name, '*'])),
  };
  const names = upNames();
  const ports = Object.fromEntries(names.map((name) => [name, 0]));
  await using system = await startSystem(names, { environment, ports });
  let open = 0;
  for (const { name, url: site } of await system.addresses()) {
    const { port } = new URL(site);
    const server = servers.find(({ app }) => app.listeningOrigin.endsWith(`:${port}`));
    assert.ok(server, name);
    const isOfApi = await readApi(site);
    for (const path of server.paths) {
      const url = new URL(path.replaceAll(/:\w+(\([^)]*\))?/g, '1').replace('*', 'a'), site);
      const statuses = ['GET', 'POST', 'OPTIONS'].map((method) => isReadable(url, method));
      for (const { isOpen, isPage } of await Promise.all(statuses)) {
        // The specification opens every JSON response of Accounts.
        const mayBeOpen = name === 'tokens' || isOfApi(path) || isOfOpenId(path);
        assert.ok(!isOpen || (!isPage && mayBeOpen), `${name} ${path}`);
        if (isOpen) open++;
      }
    }
  }
  assert.ok(open > 100, `only ${open} responses of the APIs are open`);
});

/** Addresses of the OpenID provider that applications in browsers read; it checks the origin itself once it knows which one asks. */
function isOfOpenId(path: string): boolean {
  return /^\/(\.well-known\/(openid-configuration|oauth-authorization-server)|oidc\/(jwks|token|token\/revocation|me))$/.test(
    path,
  );
}

/** Every server that is made from now on, with the paths of all its routes. */
function collectServers(): readonly Server[] {
  const servers: Server[] = [];
  subscribe('fastify.initialization', (message) => {
    const { fastify: app } = message as { fastify: FastifyInstance };
    const paths = new Set<string>();
    app.addHook('onRoute', ({ url }) => void paths.add(url));
    servers.push({ app, paths });
  });
  return servers;
}

/** Tells which paths are in the document of the API, also without their last slash, and are no probes. */
async function readApi(site: string): Promise<(path: string) => boolean> {
  const { paths } = (await (await fetch(new URL('/openapi.json', site))).json()) as {
    paths: Record<string, Record<string, { tags?: string[] }>>;
  };
  const has = (path: string) => {
    const template = path.replaceAll(/:(\w+)(\([^)]*\))?/g, '{$1}').replace('*', '{rest}');
    return Object.values(paths[template] ?? {}).some(({ tags }) => !tags?.includes('Probes'));
  };
  return (path) => has(path) || has(`${path}/`);
}

async function isReadable(url: URL, method: string): Promise<{ isOpen: boolean; isPage: boolean }> {
  const headers = { origin: 'https://pages.example', accept: 'text/html' };
  const signal = AbortSignal.timeout(60_000);
  const response = await fetch(url, { method, headers, signal, redirect: 'manual' });
  await response.body?.cancel();
  return {
    isOpen: response.headers.get('access-control-allow-origin') !== null,
    isPage: /html|javascript|css|image|font/.test(response.headers.get('content-type') ?? ''),
  };
}
