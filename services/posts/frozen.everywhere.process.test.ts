import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLog } from '@octavo/core/log';
import { startProcess, stopProcess } from '@octavo/octavo/testing';
import { PostServiceDefinition } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import { remoteClient } from '@octavo/rpc/remote';
import { testFolder } from '@octavo/testing';
import pg from 'pg';
import { inTestMode, listing, refusal, type World } from './testing/testing.ts';

const post = { userId: 7, title: 'Fog', body: 'The ferries wait.' };

await inTestMode((world) => {
  test('writes that timed out in a frozen process are not carried out when it goes on', async (context) => {
    const { client, child } = await startReplica(context, world);
    await client.createPost({ post });
    child.kill('SIGSTOP');
    await delay(100);
    const refused = await Promise.all(
      Array.from({ length: 40 }, () => refusal(client.createPost({ post }, { timeoutMs: 1_000 }))),
    );
    child.kill('SIGCONT');
    assert.deepEqual([...new Set(refused.map(({ code }) => code))], ['timeout']);
    await delay(1_000);
    await client.createPost({ post });
    assert.equal((await client.listPosts(listing())).total, 2);
  });

  const skip = world.databaseUrl === undefined && 'SQLite frees no lock of a process that lives';
  test('a process that freezes in a transaction stops the writes of others for at most 15 s', {
    skip,
  }, async (context) => {
    const [frozen, other] = [await startReplica(context, world), await startReplica(context, world)];
    const { posts: before, total } = await other.client.listPosts(listing());
    const holder = new pg.Client({ connectionString: world.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN; SELECT 1 FROM posts.post_total FOR UPDATE');
    const late = refusal(frozen.client.createPost({ post }, { timeoutMs: 2_000 }));
    await delay(500);
    frozen.child.kill('SIGSTOP');
    await holder.end();
    const startedMs = performance.now();
    await other.client.createPost({ post: { ...post, title: 'Sun' } }, { timeoutMs: 15_000 });
    assert.ok(performance.now() - startedMs > 1_000, 'the frozen process did not hold the lock');
    frozen.child.kill('SIGCONT');
    assert.equal((await late).code, 'timeout');
    await frozen.client.createPost({ post: { ...post, title: 'Rain' } });
    const { posts } = await other.client.listPosts(listing());
    assert.deepEqual(
      posts.slice(0, posts.length - before.length).map(({ title }) => title),
      ['Rain', 'Sun'],
    );
    assert.equal(posts.length, total + 2);
  });
});

async function startReplica(
  context: TestContext,
  { databaseUrl = '' }: World,
): Promise<{ client: Client<PostServiceDefinition>; child: ChildProcess }> {
  const { url, child } = await startProcess('posts', {
    NODE_ENV: 'test',
    OCTAVO_DATA: testFolder('frozen'),
    LOG_LEVEL: 'fatal',
    DATABASE_URL: databaseUrl,
    POSTS_WORKER: 'off',
  });
  const client = remoteClient(PostServiceDefinition, { address: url, log: silentLog });
  context.after(async () => {
    child.kill('SIGCONT');
    await client[Symbol.asyncDispose]();
    await stopProcess(child);
  });
  return { client, child };
}
