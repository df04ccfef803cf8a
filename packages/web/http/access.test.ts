import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AppError } from '@octavo/core';
import type { AccessRule, HttpApp } from './access.ts';
import { startTestServer } from './testing.ts';

const signedIn: AccessRule = {
  security: [{ bearer: [] }],
  async onRequest({ headers }) {
    if (headers.authorization === undefined) throw new AppError('unauthenticated', 'Sign in first.');
  },
};

describe('a route without declared access', () => {
  test('does not compile, and is refused when it is added', async () => {
    const handler = async () => ({});
    const additions: ((app: HttpApp) => void)[] = [
      // @ts-expect-error the options are missing
      (app) => app.get('/notes', handler),
      // @ts-expect-error the access is missing
      (app) => app.get('/notes', { schema: {} }, handler),
      // @ts-expect-error the access is missing
      (app) => app.route({ method: 'GET', url: '/notes', handler }),
    ];
    for (const add of additions) {
      await assert.rejects(startTestServer(add), {
        message: 'the route GET /notes does not declare its access',
      });
    }
  });

  test('stops the start where a scope or a plugin adds it', async () => {
    const start = startTestServer((app) => {
      app.register(async (scope) => {
        // @ts-expect-error the access is missing
        scope.post('/notes', {}, async () => ({}));
      });
    });
    await assert.rejects(start, { message: 'the route POST /notes does not declare its access' });
  });
});

describe('a route with a rule', () => {
  test('is refused to strangers before its own hooks run and its body is read', async () => {
    const ran: string[] = [];
    await using server = await startTestServer((app) => {
      const onRequest = async () => {
        ran.push('own hook');
      };
      app.post('/notes', { access: signedIn, onRequest }, async () => ({ saved: true }));
      app.get('/health-of-notes', { access: 'public' }, async () => ({ fine: true }));
    });
    assert.equal((await server.send('/notes', { body: '{"broken' })).status, 401);
    assert.deepEqual(ran, []);
    const headers = { authorization: 'Bearer x' };
    assert.deepEqual((await server.send('/notes', { headers, body: {} })).json, { saved: true });
    assert.deepEqual(ran, ['own hook']);
    assert.equal((await server.send('/health-of-notes')).status, 200);
  });

  test('has its security in the API document', async () => {
    await using server = await startTestServer((app) => {
      app.post('/notes', { access: signedIn }, async () => ({}));
      app.get('/notes', { access: 'public' }, async () => ({}));
    });
    const { paths } = (await server.send('/openapi.json')).json as {
      paths: Record<string, Record<string, { security?: object; responses: object }>>;
    };
    assert.deepEqual(paths['/notes']?.post?.security, [{ bearer: [] }]);
    assert.ok(Object.keys(paths['/notes']?.post?.responses ?? {}).includes('401'));
    assert.equal(paths['/notes']?.get?.security, undefined);
  });
});
