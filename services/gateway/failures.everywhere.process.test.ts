import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '@octavo/core';
import { startProcess, startTestSystem, stopProcess } from '@octavo/octavo/testing';
import type { TestResponse } from '@octavo/testing';
import { promptly, testFolder, until } from '@octavo/testing';
import { assertError, castOf } from './testing.ts';

// The gateway runs in this process for every TEST_RPC. Its backends are separate processes, which the tests kill.
const environment = {
  NODE_ENV: 'test',
  OCTAVO_DATA: testFolder('failures'),
  LOG_LEVEL: 'fatal',
  DEMO_ADMIN_PASSWORD: 'admin-of-the-tests',
  DEMO_EDITOR_PASSWORD: 'editor-of-the-tests',
  DEMO_VIEWER_PASSWORD: 'viewer-of-the-tests',
  ARGON2_MEMORY_KIB: '1024',
  ARGON2_PASSES: '1',
};
let posts = await startProcess('posts', environment);
let authz = await startProcess('authz', environment);
const [postsAddress, authzAddress] = [new URL(posts.url), new URL(authz.url)];
const system = await startTestSystem(
  {
    POSTSVC_ADDR: postsAddress.host,
    AUTHSVC_ADDR: authzAddress.host,
  },
  systemClock,
);
const { alice, bob, charlie, stranger } = await castOf(system);
after(async () => {
  await system[Symbol.asyncDispose]();
  await Promise.all([stopProcess(posts.child), stopProcess(authz.child)]);
});

async function readiness(): Promise<{ status: number; checks: Record<string, string> }> {
  const response = await fetch(`${system.url}/readiness`);
  const { checks } = (await response.json()) as { checks: Record<string, string> };
  return { status: response.status, checks };
}

/** The response once it has that status. */
function eventually(status: number, ask: () => Promise<TestResponse>): Promise<TestResponse> {
  return until(async () => {
    const response = await ask();
    return response.status === status && response;
  });
}

describe('without the posts service', () => {
  test('requests that need it are 503, and the others work', async () => {
    const { id } = await alice.create();
    await stopProcess(posts.child, 'SIGKILL');
    const calls: (() => Promise<TestResponse>)[] = [
      () => charlie.get(`/posts/${id}`),
      () => charlie.get('/posts'),
      () => charlie.get('/posts/export'),
      () => charlie.get('/posts/analytics'),
      () => alice.post('/posts', { title: 'Fog', body: 'b' }),
      () => alice.put(`/posts/${id}`, { title: 'Fog' }),
      () => alice.post('/posts/bulk', { posts: [{ title: 'Fog', body: 'b' }] }),
    ];
    for (const call of calls) {
      const response = await call();
      assertError(response, 503, 'SERVICE_UNAVAILABLE');
      assert.ok(Number(response.headers.get('retry-after')) >= 1);
      for (const name of ['content-disposition', 'content-encoding', 'etag']) {
        assert.equal(response.headers.get(name), null, name);
      }
      assert.doesNotMatch(response.text, /127\.0\.0\.1|ECONN|node:|\.ts/);
    }
    assertError(await charlie.post('/posts', {}), 403, 'FORBIDDEN');
    assertError(await alice.post('/posts', {}), 422, 'VALIDATION_FAILED');
    assert.equal((await fetch(`${system.url}/health`)).status, 200);
    const { status, checks } = await readiness();
    assert.equal(status, 503);
    assert.equal(checks.authsvc, 'ok');
    assert.notEqual(checks.postsvc, 'ok');
  });

  test('it is used again when it is back, with every acknowledged post', async () => {
    posts = await startProcess('posts', environment, Number(postsAddress.port));
    const response = await eventually(200, () => charlie.get('/posts'));
    assert.equal(response.json.pagination.totalItems, 1);
    await eventually(201, () => alice.post('/posts', { title: 'Fog', body: 'b' }));
    await delay(1_000);
    assert.equal((await readiness()).status, 200);
  });

  test('an interrupted export does not look complete', async () => {
    const rows = Array(1_000).fill({ title: 'Fog', body: 'b'.repeat(10_000) });
    for (let count = 0; count < 3; count++) await alice.post('/posts/bulk', { posts: rows });
    const response = await fetch(`${system.url}/api/v1/posts/export`, {
      headers: { authorization: `Bearer ${charlie.token}` },
    });
    assert.equal(response.status, 200);
    const reader = response.body?.getReader();
    await reader?.read();
    await stopProcess(posts.child, 'SIGKILL');
    await assert.rejects(async () => {
      while (!(await reader?.read())?.done);
    });
    posts = await startProcess('posts', environment, Number(postsAddress.port));
    await eventually(200, () => charlie.get('/posts'));
  });
});

test('an integration that the posts service switches off is disabled, until it is on again', async () => {
  const classify = () => alice.post('/ml/sentiment', { text: 'Fog' });
  const isEnabled = async () => (await bob.get('/admin/status')).json.data.integrations.inferenceServer;
  assert.equal(await isEnabled(), true);
  await stopProcess(posts.child);
  posts = await startProcess('posts', { ...environment, INFERENCE: 'off' }, Number(postsAddress.port));
  await until(async () => (await classify()).json.error.code === 'INTEGRATION_DISABLED');
  await until(async () => (await isEnabled()) === false);
  const fields = assertError(await classify(), 503, 'INTEGRATION_DISABLED');
  assert.deepEqual(fields, { integration: 'inferenceServer' });
  await stopProcess(posts.child);
  posts = await startProcess('posts', environment, Number(postsAddress.port));
  await until(isEnabled);
  await until(async () => (await classify()).status === 200);
});

describe('without authz', () => {
  test('nothing is allowed and nothing is denied', async () => {
    await stopProcess(authz.child, 'SIGKILL');
    await delay(1_000);
    for (const call of [
      () => charlie.get('/posts'),
      () => charlie.post('/posts', {}),
      () => alice.post('/posts', { title: 'Fog', body: 'b' }),
      () => charlie.get('/admin/status'),
      () => stranger.post('/auth/login', { username: 'editor', password: 'editor-of-the-tests' }),
    ]) {
      assertError(await call(), 503, 'SERVICE_UNAVAILABLE');
    }
    assertError(await stranger.get('/posts'), 401, 'UNAUTHORIZED');
    assertError(await charlie.get('/nothing'), 404, 'NOT_FOUND');
    const { status, checks } = await readiness();
    assert.equal(status, 503);
    assert.notEqual(checks.authsvc, 'ok');
  });

  test('it is used again when it is back', async () => {
    authz = await startProcess('authz', environment, Number(authzAddress.port));
    await eventually(200, () => charlie.get('/posts'));
    assertError(await charlie.post('/posts', {}), 403, 'FORBIDDEN');
  });

  test('a hanging one is 503, too', async () => {
    authz.child.kill('SIGSTOP');
    await delay(1_000);
    assertError(await charlie.get('/posts'), 503, 'SERVICE_UNAVAILABLE');
    assert.equal((await promptly(readiness)).status, 503);
    authz.child.kill('SIGCONT');
    await eventually(200, () => charlie.get('/posts'));
  });
});
