import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '@octavo/core';
import { startProcess, startTestSystem, stopProcess } from '@octavo/octavo/testing';
import { testFolder } from '@octavo/testing';

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
    // A load balancer acts on the second failure in a row; a busy machine may be late once.
    let failures = 0;
    for (let look = 0; look < 12; look++) {
      const { status, text } = await readiness();
      failures = status === 200 ? 0 : failures + 1;
      assert.ok(failures < 2, text);
      await delay(300);
    }
    child.kill('SIGCONT');
    await delay(1_100);
  }
  for (const { child } of posts) child.kill('SIGSTOP');
  await delay(1_100);
  const { status, text } = await readiness();
  assert.equal(status, 503);
  assert.deepEqual(JSON.parse(text).checks.authsvc, 'ok');
  posts[1]?.child.kill('SIGCONT');
  await delay(2_200);
  assert.equal((await readiness()).status, 200);
});
