import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { after, describe, test } from 'node:test';
import { PageClient, testFolder } from '@octavo/testing';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { startSystem, upNames } from '../apps/octavo/index.ts';
import { administratorAt } from './administrator.ts';

/** Forms without a token, of pages that are the same for everybody. Their origin is the only proof. */
const byOrigin: Readonly<Record<string, readonly string[]>> = {
  polls: ['/polls/:id/vote'],
  tokens: ['/password/check'],
  quotes: [
    '/quotes/new',
    '/quotes/:id/edit',
    '/quotes/:id/delete',
    '/quotes/:id/like',
    '/quotes/:id/comments',
    '/quotes/:id/comments/:commentId/delete',
    '/quotes/:id/report',
  ],
};
const byOriginEverywhere = ['/theme', '/sign-in/oidc/back-channel'];

const servers = collectServers();
const environment = {
  NODE_ENV: 'test',
  LOG_LEVEL: 'silent',
  OCTAVO_DATA: testFolder('forged-forms'),
  ARGON2_MEMORY_KIB: '8',
  ARGON2_PASSES: '1',
  PASSWORDLESS_LIMIT_POST_PER_IP: '0',
  BUDGETS_AUTH_RATE_LIMIT_PER_MINUTE: '1000',
};
const names = upNames();
const ports = Object.fromEntries(names.map((name) => [name, 0]));
const system = await startSystem(names, { environment, ports, hasOneSignIn: true });
after(() => system[Symbol.asyncDispose]());
const urls = new Map(system.sites().map(({ name, url }) => [name, url]));

/** A forged request: what a page of another site makes the browser of an administrator send. */
const forgeries: Readonly<
  Record<string, { token: 'none' | 'own' | 'of a stranger'; headers: Record<string, string> }>
> = {
  'without a token': { token: 'none', headers: { 'sec-fetch-site': 'same-origin' } },
  'with the token of a stranger': { token: 'of a stranger', headers: { 'sec-fetch-site': 'same-origin' } },
  'from another site': { token: 'own', headers: { 'sec-fetch-site': 'cross-site' } },
  'from another port or subdomain': { token: 'own', headers: { 'sec-fetch-site': 'same-site' } },
  'from another origin': { token: 'own', headers: { origin: 'https://mallory.example' } },
  'from a frame without an origin': { token: 'own', headers: { origin: 'null' } },
};

for (const [name, url] of urls) {
  describe(name, () => {
    const { app, posts } = serverAt(url);
    const forms = posts.filter(isForm);
    const paths = forms.map((route) => route.url);
    const originOnly = [...(byOrigin[name] ?? []), ...byOriginEverywhere];
    // A path may be there with and without a slash at its end.
    const isOriginOnly = (path: string) => originOnly.includes(path.replace(/\/$/, ''));

    test('only forms of strangers do without a token', () => {
      const found = forms.filter(({ config }) => config?.formProof === 'origin').map((route) => route.url);
      assert.deepEqual(
        found.filter((path) => !isOriginOnly(path)),
        [],
      );
      assert.ok(paths.length > 1, `${app.listeningOrigin} has ${paths.length} forms`);
    });

    for (const [way, { token, headers }] of Object.entries(forgeries))
      test(`every form ${way} is refused`, async () => {
        const { client, own, model } = await administrator(name);
        const stranger = await tokenOf(new PageClient(url), name);
        const given = { none: '', own, 'of a stranger': stranger }[token];
        for (const path of paths) {
          if (token !== 'own' && isOriginOnly(path)) continue;
          const answers = await send(client, url + addressOf(path, model), given, headers);
          const statuses = answers.map(({ status }) => status);
          // The administrator may do everything, so 403 is about the forgery.
          assert.ok(statuses.includes(403), `${path}: ${statuses}`);
          assert.ok(
            statuses.every((status) => [400, 403, 415, 422].includes(status)),
            `${path}: ${statuses}`,
          );
        }
      });

    test('a form with the token of its session is not taken for a forgery', async () => {
      for (const path of paths.filter((each) => !isOriginOnly(each))) {
        const { client, own, model } = await administrator(name);
        const headers = { 'sec-fetch-site': 'same-origin' };
        const answers = await send(client, url + addressOf(path, model), own, headers);
        assert.ok(
          answers.some(({ html }) => !/not from one of our pages|cannot be used/.test(html)),
          `${path}: ${answers.map(({ status }) => status)}`,
        );
      }
    });

    test('the API ignores the cookies of pages', async () => {
      const { client } = await administrator(name);
      const cookie = [...client.cookies].map(([key, value]) => `${key}=${value}`).join('; ');
      const statusOf = async (route: RouteOptions, headers: Record<string, string>) => {
        const init = {
          method: String(route.method),
          headers: { 'content-type': 'application/json', ...headers },
        };
        const response = await fetch(url + addressOf(route.url), { ...init, body: '{}', redirect: 'manual' });
        await response.body?.cancel();
        return response.status;
      };
      for (const route of serverAt(url).changes.filter((each) => !forms.includes(each))) {
        const [without, with_] = [await statusOf(route, {}), await statusOf(route, { cookie })];
        assert.equal(with_, without, `${route.method} ${route.url}`);
      }
    });
  });
}

interface Server {
  readonly app: FastifyInstance;
  readonly posts: RouteOptions[];
  /** Routes of all methods that change something. */
  readonly changes: RouteOptions[];
}

/** Every server that is made from now on, with its routes. */
function collectServers(): readonly Server[] {
  const found: Server[] = [];
  subscribe('fastify.initialization', (message) => {
    const { fastify: app } = message as { fastify: FastifyInstance };
    const server: Server = { app, posts: [], changes: [] };
    app.addHook('onRoute', (route) => {
      // Other methods of a path get 405.
      if (route.config?.allow !== undefined) return;
      const methods = [route.method].flat();
      if (methods.includes('POST')) server.posts.push(route);
      if (methods.some((method) => ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method)))
        server.changes.push(route);
    });
    found.push(server);
  });
  return found;
}

/** A form of a page. The provider checks its own, and addresses of an API may have a second spelling that is hidden. */
function isForm({ url, schema }: RouteOptions): boolean {
  const isHidden = (schema as { hide?: boolean } | undefined)?.hide === true;
  return isHidden && !/^\/(api|oidc)\//.test(url);
}

function serverAt(url: string): Server {
  const { port } = new URL(url);
  const server = servers.find(({ app }) => app.listeningOrigin.endsWith(`:${port}`));
  assert.ok(server, url);
  return server;
}

/** An address of a route: a model of the admin where it is about one, and 1 for all other parameters. */
function addressOf(path: string, model = ''): string {
  return path
    .replace(':app/:model', model)
    .replaceAll(/:\w+(\([^)]*\))?/g, '1')
    .replace('*', 'a');
}

/** A browser of the administrator of the suite at a service, a token of its forms, and a model of its admin. */
async function administrator(name: string): Promise<{ client: PageClient; own: string; model: string }> {
  const client = await administratorAt(system, name);
  const { html } = await client.open('/admin/');
  const [, model = ''] = /href="\/admin\/(\w+\/\w+)\/"/.exec(html) ?? [];
  return { client, own: await tokenOf(client, name), model };
}

/** A token of a page of the service. */
async function tokenOf(client: PageClient, name: string): Promise<string> {
  client.token = '';
  for (const path of ['/', '/account', '/sign-in', '/polls/new/', '/admin/', '/admin/login/']) {
    await client.open(path);
    if (client.token !== '') return client.token;
  }
  throw new Error(`${name} has no form with a token`);
}

interface Answer {
  readonly status: number;
  readonly html: string;
}

/** The answers to the same form in each media type that forms of ours have, and to one whose body is empty. */
async function send(
  client: PageClient,
  address: string,
  token: string,
  headers: Record<string, string>,
): Promise<readonly Answer[]> {
  const fields: Record<string, string> = token === '' ? {} : { _csrf: token };
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob(['title\na']), 'a.csv');
  const json = { 'content-type': 'application/json', ...(token !== '' && { 'x-csrf-token': token }) };
  const requests: RequestInit[] = [
    { body: new URLSearchParams(fields) },
    { body: form },
    { body: '{}', headers: json },
    { headers: { 'content-type': 'multipart/form-data; boundary=x' } },
  ];
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  return Promise.all(
    requests.map(async (request) => {
      const response = await fetch(address, {
        method: 'POST',
        redirect: 'manual',
        ...request,
        headers: { accept: 'text/html', cookie, ...headers, ...request.headers },
      });
      return { status: response.status, html: await response.text() };
    }),
  );
}
