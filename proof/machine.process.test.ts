import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { testFolder, until } from '@octavo/testing';
import { mountingIsForbidden, mountSmallDisk } from '@octavo/testing/engines';
import { Wire } from '@octavo/web/testing';
import { castOf, Person } from '../services/gateway/testing.ts';
import { entry, octavo, quick } from './command-line.ts';

const passwords = { admin: 'admin-of-tests', editor: 'editor-of-tests', viewer: 'viewer-of-tests' };
const environment = {
  ...quick,
  DEMO_ADMIN_PASSWORD: passwords.admin,
  DEMO_EDITOR_PASSWORD: passwords.editor,
  DEMO_VIEWER_PASSWORD: passwords.viewer,
};
const skip = mountingIsForbidden();
const mebibyte = 1024 * 1024;

describe('a disk', { skip }, () => {
  const start = (service: string, data: string) =>
    octavo(['serve', service, '--port', '0'], { ...environment, OCTAVO_DATA: data });

  test('that is read-only is named at start, with what to do', async () => {
    const disk = mountSmallDisk(mebibyte);
    disk.makeReadOnly();
    const readOnly = 'is on a read-only file system: choose a folder that can be written';
    for (const [service, data, words] of [
      ['gateway', disk.folder, new RegExp(`/posts\\.sqlite ${readOnly}`)],
      ['quotes', disk.folder, new RegExp(`/quotes\\.sqlite ${readOnly}`)],
      ['budgets', disk.folder, new RegExp(`/budgets\\.secret ${readOnly}`)],
      ['passwordless', disk.folder, new RegExp(`/passwordless\\.secret ${readOnly}`)],
      [
        'gateway',
        join(disk.folder, 'data'),
        /\/data cannot be created: check that the folder above it exists and can/,
      ],
    ] as const) {
      const { code, stderr } = await start(service, data);
      assert.equal(code, 69, stderr);
      assert.match(stderr, words);
      assert.ok(stderr.includes(disk.folder) && !/our side|\n +at /.test(stderr), stderr);
    }
  });

  test('that is full is named at start, with what to do', async () => {
    const disk = mountSmallDisk(mebibyte);
    disk.fill();
    for (const [service, file] of [
      ['gateway', 'posts.sqlite'],
      ['authz', 'authz.sqlite'],
      ['passwordless', 'passwordless.secret'],
    ] as const) {
      const { code, stderr } = await start(service, disk.folder);
      assert.equal(code, 69, stderr);
      assert.match(stderr, /has no space left on its disk: free some/);
      assert.ok(stderr.includes(join(disk.folder, file)), stderr);
    }
    assert.deepEqual(
      readdirSync(disk.folder).filter((name) => name.startsWith('passwordless.secret')),
      [],
    );
  });

  test('that is too small for a backup or a restore is named', async () => {
    const disk = mountSmallDisk(mebibyte);
    const data = testFolder('data');
    const settings = { ...environment, OCTAVO_DATA: data };
    assert.equal((await octavo(['migrate'], settings)).code, 0);
    const whole = join(testFolder('backup'), 'whole.tar');
    assert.equal((await octavo(['backup', whole], settings)).code, 0);
    disk.fill(200 * 1024);
    const [backup, restore] = await Promise.all([
      octavo(['backup', join(disk.folder, 'small.tar')], settings),
      octavo(['restore', whole], { ...environment, OCTAVO_DATA: disk.folder }),
    ]);
    assert.deepEqual([backup.code, restore.code], [69, 69], backup.stderr + restore.stderr);
    assert.match(
      backup.stderr,
      /small\.tar\S* (has no space left on|cannot be read from or written to) its disk/,
    );
    assert.match(restore.stderr, /\/\.restore-\S* has no space left on its disk: free some/);
    disk.free();
    assert.deepEqual(readdirSync(disk.folder), ['octavo.lock']);
  });

  test('that fills up is named in readiness and in the log, and clients see no path', async (context) => {
    const disk = mountSmallDisk(8 * mebibyte);
    const { url, log } = await startGateway(context, { OCTAVO_DATA: disk.folder });
    const { alice } = await castOf({ url, passwords });
    const body = 'b'.repeat(10_000);
    await alice.create({ body });
    disk.fill();
    const refused = await until(async () => {
      const response = await alice.post('/posts/bulk', { posts: Array(100).fill({ title: 'Fog', body }) });
      return response.status !== 201 && response;
    });
    assert.equal(refused.status, 503, refused.text);
    assert.ok(Number(refused.headers.get('retry-after')) >= 1);
    assert.equal(refused.json.error.message, 'the database cannot be used at the moment');
    const notReady = await until(async () => {
      const response = await fetch(`${url}/readiness`);
      return response.status === 503 && ((await response.json()) as Readiness);
    });
    const problem = 'has no space left on its disk: free some';
    assert.equal(notReady.checks.postsvc, `failing: posts.sqlite ${problem}`);
    assert.match(notReady.integrations?.objectStore ?? '', new RegExp(`^failing: objects ${problem}`));
    assert.ok(!JSON.stringify(notReady).includes(disk.folder));
    assert.ok(log().includes(`${join(disk.folder, 'posts.sqlite')} ${problem}`), log());
    disk.free();
    await until(async () => (await fetch(`${url}/readiness`)).status === 200);
    await alice.create({ body });
    assert.ok(log().includes('the database can be used again'));
  });
});

describe('the limit of open files', () => {
  test('is named at start, with what to do', async () => {
    const script = `ulimit -n 30; exec ${process.execPath} ${entry} serve gateway --port 0`;
    const child = spawn('sh', ['-c', script], {
      env: { PATH: process.env.PATH, ...environment, OCTAVO_DATA: testFolder('files') },
      timeout: 20_000,
    });
    const [stderr, [code]] = await Promise.all([
      Array.fromAsync(child.stderr.setEncoding('utf8')),
      once(child, 'exit'),
    ]);
    assert.equal(code, 69, stderr.join(''));
    assert.match(stderr.join(''), /limit \(ulimit -n\)|the limit of open files \(ulimit -n\)/);
  });

  test('does not end a process that reaches it', async (context) => {
    const { url } = await startGateway(context, { OCTAVO_DATA: testFolder('files') }, 'ulimit -n 64');
    const { alice } = await castOf({ url, passwords });
    const { port } = new URL(url);
    const sockets: Socket[] = [];
    for (let count = 0; count < 200; count++) {
      sockets.push(connect(Number(port), '127.0.0.1').on('error', () => {}));
    }
    // Longer than any timer of the server sleeps.
    await delay(2_500);
    for (const socket of sockets) socket.destroy();
    await until(async () => (await ask(`${url}/readiness`))?.status === 200);
    await new Person(url, alice.token).create();
  });
});

describe('an export at the limit of open files', () => {
  test('is 503 with words, and works when files are free again', async (context) => {
    const settings = { OCTAVO_DATA: testFolder('export-files'), GRPC_PORT: '0' };
    const { url } = await startService('budgets', { context, settings, before: 'ulimit -n 80' });
    const signedUp = await fetch(`${url}/api/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'a@example.com', username: 'alice', password: 'a long password 42' }),
    });
    const { token } = (await signedUp.json()) as { token: string };
    const { port } = new URL(url);
    const paths = ['/api/export?format=csv', '/api/export?format=json', '/docs/scalar.js'];
    const wires = await Promise.all(paths.map(() => Wire.open(Number(port))));
    const others: Socket[] = [];
    for (let count = 0; count < 200; count++) {
      others.push(connect(Number(port), '127.0.0.1').on('error', () => {}));
    }
    // When a connection that came after them is closed, there are no more files.
    await Promise.race(others.map((socket) => new Promise((resolve) => socket.once('close', resolve))));
    for (const [index, wire] of wires.entries()) {
      wire.send(`GET ${paths[index]} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`, '');
      await wire.until(/too many open files/);
      assert.match(wire.received, /^HTTP\/1.1 503 .*retry-after: 1/is);
    }
    for (const { socket } of wires) socket.destroy();
    for (const socket of others) socket.destroy();
    await until(async () => (await ask(`${url}/readiness`))?.status === 200);
    for (const path of paths) {
      const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
      assert.equal(response.status, 200, path);
      await response.body?.cancel();
    }
  });
});

interface Readiness {
  readonly checks: Readonly<Record<string, string>>;
  readonly integrations?: Readonly<Record<string, string>>;
}

function startGateway(context: TestContext, settings: Record<string, string>, before = ':') {
  return startService('gateway', { context, settings, before });
}

/** A service as a process, and what it has logged. */
async function startService(
  name: string,
  { context, settings, before }: { context: TestContext; settings: Record<string, string>; before: string },
) {
  const script = `${before}; exec ${process.execPath} ${entry} serve ${name} --port 0`;
  const child = spawn('sh', ['-c', script], {
    env: { PATH: process.env.PATH, ...environment, ...settings, LOG_LEVEL: 'info' },
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log += text;
  });
  const ended = once(child, 'exit');
  context.after(async () => {
    child.kill();
    assert.deepEqual(await ended, [0, null], log);
  });
  for await (const line of createInterface({ input: child.stdout })) {
    return { url: line.split(/\s+/)[1] ?? '', log: () => log };
  }
  throw new Error(`it did not start: ${log}`);
}

async function ask(url: string): Promise<Response | undefined> {
  return fetch(url, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined);
}
