import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AppError, Type } from '@octavo/core';
import type { FastifyRequest } from 'fastify';
import type { HttpApp } from './server.ts';
import { exchange, startTestServer, type TestServer } from './testing.ts';

const Id = Type.Object({ id: Type.Integer({ minimum: 1 }) });
const Page = Type.Object({
  page: Type.Integer({ minimum: 1, default: 1 }),
  tag: Type.Optional(Type.String()),
});

function addRoutes(app: HttpApp): void {
  app.get('/notes', { access: 'public', schema: { querystring: Page } }, async ({ query }) => query);
  app.post('/notes', { access: 'public' }, async () => ({}));
  app.get('/notes/:id', { access: 'public', schema: { params: Id } }, async ({ params }) => params);
  app.delete('/notes/:id', { access: 'public', schema: { params: Id } }, async ({ params }) => params);
  app.post('/notes/bulk', { access: 'public' }, async () => ({}));
  app.get('/files/*', { access: 'public' }, async () => ({ file: true }));
  app.delete('/files/:name', { access: 'public' }, async () => ({ deleted: true }));
  app.get('/once', { access: 'public', exposeHeadRoute: false }, async () => ({ used: true }));
  app.head('/once', { access: 'public' }, async (_request, reply) => reply.header('x-kept', 'yes').send());
  app.get('/no-head', { access: 'public', exposeHeadRoute: false }, async () => ({}));
  app.options('/own', { access: 'public' }, async () => ({ own: true }));
  app.addHook('onRequest', async (request) => {
    if (request.is404 && request.url.startsWith('/guarded/')) await authenticate(request);
  });
  app.register(
    async (scope) => {
      scope.addHook('onRequest', async (request) => authenticate(request));
      scope.get('/things', { access: 'public' }, async () => ({ thing: true }));
      scope.post(
        '/things',
        { access: 'public', schema: { body: Type.Object({ name: Type.String() }) } },
        async () => ({}),
      );
    },
    { prefix: '/guarded' },
  );
}

async function authenticate(request: FastifyRequest): Promise<void> {
  if (request.headers.authorization === undefined) throw new AppError('unauthenticated', 'Sign in first.');
}

let server: TestServer;
before(async () => {
  server = await startTestServer(addRoutes);
});
after(() => server[Symbol.asyncDispose]());

const allowOf = async (path: string, method: string) => {
  const { status, headers } = await server.send(path, { method });
  return [status, headers.get('allow')];
};

describe('an address', () => {
  test('that is unknown is 404, whatever the body', async () => {
    for (const path of [
      '/nowhere',
      '/notes/7/x',
      '/',
      '/__proto__',
      '/constructor',
      '/Notes',
      '/notes/',
      '/notes;x',
    ]) {
      const { status, error } = await server.send(path);
      assert.deepEqual([status, error.code], [404, 'NOT_FOUND'], path);
    }
    const broken = await server.send('/nowhere', {
      body: '{"broken',
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(broken.status, 404);
    assert.equal(
      (await server.send('/nowhere', { body: 'x', headers: { 'content-type': 'no type' } })).status,
      404,
    );
  });

  test('with another method is 405 and says which it takes', async () => {
    assert.deepEqual(await allowOf('/notes', 'DELETE'), [405, 'GET, HEAD, POST, OPTIONS']);
    assert.deepEqual(await allowOf('/notes?page=x', 'PATCH'), [405, 'GET, HEAD, POST, OPTIONS']);
    assert.deepEqual(await allowOf('/notes/7', 'PUT'), [405, 'GET, HEAD, DELETE, OPTIONS']);
    for (const method of ['PUT', 'DELETE', 'GET', 'HEAD'])
      assert.deepEqual(await allowOf('/notes/bulk', method), [405, 'POST, OPTIONS'], method);
    assert.deepEqual(await allowOf('/notes/b%75lk?page=1', 'GET'), [405, 'POST, OPTIONS']);
    assert.deepEqual(await allowOf('/files/a/b', 'POST'), [405, 'GET, HEAD, OPTIONS']);
    assert.deepEqual(await allowOf('/files/a', 'POST'), [405, 'GET, HEAD, DELETE, OPTIONS']);
    assert.deepEqual((await server.send('/files/a')).json, { file: true });
    assert.deepEqual(await allowOf('/n%6Ftes', 'DELETE'), [405, 'GET, HEAD, POST, OPTIONS']);
    assert.deepEqual(await allowOf('/notes', 'QUERY'), [405, 'GET, HEAD, POST, OPTIONS']);
  });

  test('answers OPTIONS with 204 and Allow, unless a route does', async () => {
    assert.deepEqual(await allowOf('/notes', 'OPTIONS'), [204, 'GET, HEAD, POST, OPTIONS']);
    assert.deepEqual(await allowOf('/guarded/things', 'OPTIONS'), [204, 'GET, HEAD, POST, OPTIONS']);
    assert.deepEqual(await allowOf('/nowhere', 'OPTIONS'), [404, null]);
    assert.deepEqual((await server.send('/own', { method: 'OPTIONS' })).json, { own: true });
    const [star, get] = await Promise.all(
      ['OPTIONS', 'GET'].map((method) =>
        exchange(server.port, `${method} * HTTP/1.1`, 'Host: x', 'Connection: close', ''),
      ),
    );
    assert.match(star ?? '', /^HTTP\/1.1 204 .*\r\nallow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n/s);
    assert.match(get ?? '', /^HTTP\/1.1 4/);
  });

  test('does not echo a request (TRACE)', async () => {
    const answer = await exchange(
      server.port,
      'TRACE /notes HTTP/1.1',
      'Host: x',
      'Cookie: a=secret',
      'Connection: close',
      '',
    );
    assert.match(answer, /^HTTP\/1.1 405 /);
    assert.doesNotMatch(answer, /secret/);
  });

  test('answers HEAD as GET without the body, unless the route has its own or none', async () => {
    const get = await server.send('/notes');
    const head = await server.send('/notes', { method: 'HEAD' });
    assert.deepEqual([head.status, head.text], [200, '']);
    assert.equal(head.headers.get('content-length'), String(get.text.length));
    assert.equal((await server.send('/notes/x', { method: 'HEAD' })).status, 400);
    assert.equal((await server.send('/once', { method: 'HEAD' })).headers.get('x-kept'), 'yes');
    assert.deepEqual(await allowOf('/no-head', 'HEAD'), [405, 'GET, OPTIONS']);
  });

  test('that is not well-formed or too long is 400', async () => {
    for (const path of [
      '/notes/%zz',
      '/%',
      '/notes/%c3%28',
      `/notes/${'x'.repeat(7_000)}`,
      `/${'x'.repeat(8_200)}`,
    ]) {
      const answer = await exchange(server.port, `GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close', '');
      assert.match(answer, /^HTTP\/1.1 400 .*"INVALID_INPUT".*"requestId"/s, path.slice(0, 30));
      assert.match(answer, /content-security-policy/);
    }
    assert.equal((await server.send('/notes/%00')).status, 400);
    assert.equal((await server.send('/notes?__proto__=1&constructor=2&page=2')).status, 200);
  });
});

describe('parameters', () => {
  test('in the path are parsed and checked by name', async () => {
    assert.deepEqual((await server.send('/notes/7')).json, { id: 7 });
    for (const id of ['0', '-1', '1.5', 'abc', '1e3', '9007199254740992', '%20']) {
      const { status, error } = await server.send(`/notes/${id}`);
      assert.deepEqual([status, error.code, Object.keys(error.fields)], [400, 'INVALID_INPUT', ['id']], id);
    }
  });

  test('in the query are parsed, defaulted and checked by name', async () => {
    assert.deepEqual((await server.send('/notes')).json, { page: 1 });
    assert.deepEqual((await server.send('/notes?page=3&tag=1&other=x')).json, { page: 3, tag: '1' });
    const { status, error } = await server.send('/notes?page=&tag=a&tag=b');
    assert.deepEqual([status, error.code], [400, 'INVALID_INPUT']);
    assert.deepEqual(error.fields, { page: 'must be a whole number', tag: 'must be given only once' });
  });
});

describe('a scope whose hook requires a token', () => {
  const headers = { authorization: 'Bearer x' };

  test('answers 401 before 404 and 405', async () => {
    for (const method of ['GET', 'PUT', 'POST']) {
      for (const path of ['/guarded/things', '/guarded/nowhere']) {
        assert.equal((await server.send(path, { method })).status, 401, `${method} ${path}`);
      }
    }
    assert.equal((await server.send('/guarded/things', { headers })).status, 200);
    assert.equal((await server.send('/guarded/nowhere', { headers })).status, 404);
    assert.deepEqual((await server.send('/guarded/things', { method: 'PUT', headers })).status, 405);
    assert.equal((await server.send('/guarded/%74hings')).status, 401);
    assert.equal((await server.send('/%67uarded/things')).status, 401);
  });

  test('answers 401 before it reads a body', async () => {
    for (const body of ['{"broken', 'x'.repeat(300_000), '{}']) {
      assert.equal((await server.send('/guarded/things', { body })).status, 401);
    }
    assert.equal((await server.send('/guarded/things', { headers, body: '{}' })).status, 422);
  });
});
