import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '@octavo/core';
import { startProcess, startTestSystem, stopProcess } from '@octavo/octavo/testing';
import { testFolder, until } from '@octavo/testing';

// The gateway runs in this process, its backends do in others: two of the posts on one database.
const environment = {
  NODE_ENV: 'test',
  OCTAVO_DATA: testFolder('readiness'),
  LOG_LEVEL: 'fatal',
  ARGON2_MEMORY_KIB: '1024',
  ARGON2_PASSES: '1',
};
const posts = [await startProcess('posts', environment), await startProcess('posts', environment)];
const authz = await startProcess('authz', environment);
const system = await startTestSystem(
  {
    POSTSVC_ADDR: posts.map(({ url }) => new URL(url).host).join(','),
    AUTHSVC_ADDR: new URL(authz.url).host,
  },
  systemClock,
);
after(async () => {
  await system[Symbol.asyncDispose]();
  for (const { child } of [...posts, authz]) {
    child.kill('SIGCONT');
    await stopProcess(child);
  }
});

async function readiness(): Promise<{ status: number; text: string }> {
  const response = await fetch(`${system.url}/readiness`);
  return { status: response.status, text: await response.text() };
}

test('the gateway stays ready while one of two replicas hangs, and is not while both do', async () => {
  assert.equal((await readiness()).status, 200);
  for (const { child } of posts) {
    child.kill('SIGSTOP');
    // Three in a row are not luck of the turn, and a busy machine may be late before.
    let inRow = 0;
    await until(async () => {
      inRow = (await readiness()).status === 200 ? inRow + 1 : 0;
      return inRow === 3;
    });
    child.kill('SIGCONT');
    await delay(1_100);
  }
  for (const { child } of posts) child.kill('SIGSTOP');
  const text = await until(async () => {
    const { status, text } = await readiness();
    return status === 503 && text;
  });
  assert.deepEqual(JSON.parse(text).checks.authsvc, 'ok');
  posts[1]?.child.kill('SIGCONT');
  await until(async () => (await readiness()).status === 200);
});
