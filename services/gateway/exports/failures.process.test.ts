import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startProcess, startTestSystem, stopProcess } from '@octavo/octavo/testing';
import { promptly, testFolder, until } from '@octavo/testing';
import { startTestS3 } from '@octavo/testing/engines';
import { assertError, castOf, signedIn } from '../testing.ts';
import { bytesOf, fill, listOf, metricsOf, open, quiet, settingsOf } from './testing.ts';

describe('a store that dies', () => {
  test('during an export does not interrupt the download', async () => {
    const doomed = await startTestS3();
    await using system = await startTestSystem(settingsOf(doomed));
    const cast = await castOf(system);
    await fill(cast);
    const expected = (await cast.charlie.get('/posts/export')).text;
    await until(async () => (await metricsOf(system)).stored === 1);
    const [stored, ...others] = await listOf(cast);
    assert.ok(stored && others.length === 0);

    let read = '';
    const response = await open(cast, '/posts/export');
    for await (const chunk of response.setEncoding('utf8')) {
      if (read === '') await doomed.kill();
      read += chunk;
    }
    assert.ok(read === expected, 'the client has the whole file');

    await until(async () => (await metricsOf(system)).failed === 1);
    assertError(await cast.charlie.get('/exports'), 503, 'SERVICE_UNAVAILABLE');
    assertError(await cast.charlie.get(`/exports/${stored.Key}`), 503, 'SERVICE_UNAVAILABLE');
    assert.equal((await metricsOf(system, 1_100)).up, 0);
    const visitor = await signedIn(system, 'charlie');
    const page = await visitor.open('/exports');
    assert.equal(page.status, 503);
    assert.match(page.html, /The stored exports are not available/);
    const ready = await fetch(`${system.url}/readiness`);
    assert.deepEqual(await ready.json(), {
      status: 'ready',
      checks: { postsvc: 'ok', authsvc: 'ok' },
      integrations: { objectStore: 'failing: The object store does not respond.' },
    });
    assert.equal((await cast.bob.get('/admin/status')).json.data.integrations.objectStore, true);

    await doomed.revive();
    assert.deepEqual(await listOf(cast), [stored]);
    assert.ok((await cast.charlie.get(`/exports/${stored.Key}`)).text === expected);
    assert.match((await visitor.open('/exports')).html, /The latest export was not stored/);
    await cast.charlie.get('/posts/export?userId=77');
    await until(async () => (await metricsOf(system)).stored === 2);
    assert.equal((await metricsOf(system, 1_100)).up, 1);
    assert.doesNotMatch((await visitor.open('/exports')).html, /The latest export was not stored/);
  });
});

describe('a store that is slow', () => {
  test('gets its copy later, and no client waits', async () => {
    const slow = await startTestS3();
    await using system = await startTestSystem(settingsOf(slow));
    const cast = await castOf(system);
    await fill(cast);
    slow.freeze();
    const sent = await bytesOf(cast, '/posts/export');
    assert.equal((await metricsOf(system)).pending, 1);
    slow.thaw();
    await until(async () => (await metricsOf(system)).stored === 1);
    const [stored] = await listOf(cast);
    assert.ok((await bytesOf(cast, `/exports/${stored?.Key}`)).equals(sent));
  });

  test('gets no copy if there is no space to buffer it', async () => {
    const slow = await startTestS3();
    await using system = await startTestSystem({ ...settingsOf(slow), EXPORT_SPILL_MIB: '0' });
    const cast = await castOf(system);
    await fill(cast, 3);
    slow.freeze();
    const sent = await bytesOf(cast, '/posts/export');
    slow.thaw();
    await until(async () => (await metricsOf(system)).tooSlow === 1);
    assert.deepEqual(await listOf(cast), []);
    assert.ok((await bytesOf(cast, '/posts/export?format=csv')).length > sent.length / 2);
  });
});

describe('a store that never responds', () => {
  test('does not keep the gateway from ending', async () => {
    const silent = await startTestS3();
    const passwords = { admin: 'admin-admin', editor: 'editor-editor', viewer: 'viewer-viewer' };
    const { url, child } = await startProcess('gateway', {
      ...settingsOf(silent),
      NODE_ENV: 'test',
      LOG_LEVEL: 'fatal',
      OCTAVO_DATA: testFolder('silent'),
      DEMO_ADMIN_PASSWORD: passwords.admin,
      DEMO_EDITOR_PASSWORD: passwords.editor,
      DEMO_VIEWER_PASSWORD: passwords.viewer,
    });
    const cast = await castOf({ url, passwords });
    silent.freeze();
    await bytesOf(cast, '/posts/export');
    const list = cast.charlie.get('/exports');
    await until(async () => (await metricsOf({ url })).pending === 1);
    const stopped = promptly(() => stopProcess(child));
    const [response] = await Promise.allSettled([list, stopped]);
    await stopped;
    if (response.status === 'fulfilled') assertError(response.value, 503, 'SERVICE_UNAVAILABLE');
  });
});

describe('a post service that hangs', () => {
  test('makes an export fail with 504 within seconds, until it answers again', async (context) => {
    const passwords = { admin: 'admin-admin', editor: 'editor-editor', viewer: 'viewer-viewer' };
    const environment = {
      NODE_ENV: 'test',
      LOG_LEVEL: 'fatal',
      OCTAVO_DATA: testFolder('hanging'),
      DEMO_ADMIN_PASSWORD: passwords.admin,
      DEMO_EDITOR_PASSWORD: passwords.editor,
      DEMO_VIEWER_PASSWORD: passwords.viewer,
    };
    const start = async (name: string, addresses: Record<string, string> = {}) => {
      const started = await startProcess(name, { ...environment, ...addresses });
      context.after(() => stopProcess(started.child, 'SIGKILL'));
      return started;
    };
    const [posts, authz] = await Promise.all([start('posts'), start('authz')]);
    const addresses = { POSTSVC_ADDR: new URL(posts.url).host, AUTHSVC_ADDR: new URL(authz.url).host };
    const { url } = await start('gateway', addresses);
    const cast = await castOf({ url, passwords });
    assert.equal((await cast.charlie.get('/posts/export')).text, '[]');
    posts.child.kill('SIGSTOP');
    assertError(await promptly(() => cast.charlie.get('/posts/export')), 504, 'UPSTREAM_TIMEOUT');
    posts.child.kill('SIGCONT');
    await until(async () => (await cast.charlie.get('/posts/export')).text === '[]');
  });
});

describe('a gateway that is killed', () => {
  test('during an export leaves only complete files in the list', async (context) => {
    const passwords = { admin: 'admin-admin', editor: 'editor-editor', viewer: 'viewer-viewer' };
    const environment = {
      NODE_ENV: 'test',
      LOG_LEVEL: 'error',
      ...quiet,
      OCTAVO_DATA: testFolder('killed'),
      DEMO_ADMIN_PASSWORD: passwords.admin,
      DEMO_EDITOR_PASSWORD: passwords.editor,
      DEMO_VIEWER_PASSWORD: passwords.viewer,
    };
    const start = async () => {
      const { url, child } = await startProcess('gateway', environment);
      context.after(() => stopProcess(child, 'SIGKILL'));
      return { child, cast: await castOf({ url, passwords }) };
    };
    const first = await start();
    await fill(first.cast);
    const sent = await bytesOf(first.cast, '/posts/export');
    const before = await until(async () => {
      const stored = await listOf(first.cast);
      return stored.length === 1 && stored;
    });
    const response = await open(first.cast, '/posts/export');
    await response[Symbol.asyncIterator]().next();
    await stopProcess(first.child, 'SIGKILL');
    response.destroy();

    const { cast } = await start();
    assert.deepEqual(await listOf(cast), before);
    assert.ok((await bytesOf(cast, `/exports/${before[0]?.Key}`)).equals(sent));
  });
});
