import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { systemClock } from '@octavo/core';
import { startProcess, startTestSystem, stopProcess } from '@octavo/octavo/testing';
import type { PageResponse } from '@octavo/testing';
import { testFolder } from '@octavo/testing';
import { importFile, signedIn } from '../testing.ts';

// The gateway runs in this process for every TEST_RPC. Its backends are separate processes, which the test kills.
const environment = {
  NODE_ENV: 'test',
  OCTAVO_DATA: testFolder('page-failures'),
  LOG_LEVEL: 'fatal',
  DEMO_ADMIN_PASSWORD: 'admin-of-the-tests',
  DEMO_EDITOR_PASSWORD: 'editor-of-the-tests',
  DEMO_VIEWER_PASSWORD: 'viewer-of-the-tests',
  ARGON2_MEMORY_KIB: '1024',
  ARGON2_PASSES: '1',
};
const [posts, authz] = await Promise.all([
  startProcess('posts', environment),
  startProcess('authz', environment),
]);
const addresses = { POSTSVC_ADDR: new URL(posts.url).host, AUTHSVC_ADDR: new URL(authz.url).host };
const system = await startTestSystem(addresses, systemClock);
after(async () => {
  await system[Symbol.asyncDispose]();
  await Promise.all([stopProcess(posts.child), stopProcess(authz.child)]);
});

function assertPreserved(response: PageResponse): void {
  assert.equal(response.status, 503);
  assert.match(response.html, /Nothing has been saved yet[\s\S]*Request <code>[\w-]+<\/code>/);
  assert.match(response.html, /value="Long work"[\s\S]*>\nof an hour<\/textarea>/);
  assert.match(response.html, /<html lang="en"[^>]* data-failure>/);
}

test('when a backend is down, pages say so and preserve the typed text', async () => {
  const [alice, bob] = [await signedIn(system, 'alice'), await signedIn(system, 'bob')];
  await alice.open('/posts/new');
  const typed = { title: 'Long work', body: 'of an hour', userId: '' };
  await stopProcess(posts.child, 'SIGKILL');
  const list = await alice.open('/');
  assert.equal(list.status, 503);
  assert.match(list.html, /Not available right now[\s\S]*Try again[\s\S]*Request <code>/);
  assert.ok(list.headers.get('retry-after'));
  assertPreserved(await alice.send('/posts/new', typed));
  assert.match(
    (await bob.open('/status')).html,
    /Posts<\/td>[\s\S]*does not respond[\s\S]*Accounts and access/,
  );
  const { result } = await importFile(alice, { name: 'a.csv', content: 'title,body\na,b\n' });
  assert.equal(result.status, 503);
  assert.match(result.html, /The import stopped early[\s\S]*0 posts saved[\s\S]*Continue the import/);
  await stopProcess(authz.child, 'SIGKILL');
  // A decision may be cached for a second.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  assertPreserved(await alice.send('/posts/new', typed));
  assert.equal((await bob.open('/status')).status, 503);
});
