import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import {
  bulkCreate,
  inTestMode,
  listing,
  refusal,
  startPosts,
  type TestPosts,
  type World,
} from '../testing/testing.ts';

const post = { userId: 7, title: 'Fog', body: 'The ferries wait.' };
const brief = { timeoutMs: 300 };

await inTestMode((world) => {
  test('a write that its caller gave up is not carried out afterwards', async (context) => {
    const posts = await startPosts(context, world);
    const { client } = posts;
    const [changed, deleted] = await bulkCreate(client, [post, post]);
    const release = await blockWrites(posts, world);
    const bulk = (count: number, body: string) => ({
      posts: Array(count).fill({ ...post, body }),
      errors: [],
      idempotencyKey: '',
      digest: Buffer.alloc(0),
    });
    const signal = AbortSignal.timeout(300);
    const refused = await Promise.all(
      [
        ...Array.from({ length: 8 }, () => client.createPost({ post }, brief)),
        client.createPost({ post }, { signal }),
        client.updatePost({ id: changed as number, title: 'Late', ifRevisions: [] }, brief),
        client.deletePost({ id: deleted as number, ifRevisions: [] }, brief),
        client.bulkCreatePosts(bulk(3, 'short'), brief),
        client.bulkCreatePosts(bulk(30, 'b'.repeat(10_000)), brief),
        client.bulkCreatePosts(bulk(30, 'b'.repeat(10_000)), { signal }),
        client.requestReanalysis({}, brief),
      ].map(refusal),
    );
    const codes = new Set(refused.map(({ code }) => code));
    assert.deepEqual([...codes].toSorted(), ['canceled', 'timeout']);
    await release();
    await delay(300);
    await client.createPost({ post });
    const { posts: all } = await client.listPosts(listing());
    assert.deepEqual(
      all.map(({ title, revision }) => [title, revision]),
      Array(3).fill(['Fog', 1]),
    );
    assert.equal((await client.getAnalytics({})).totalPosts, 3);
    assert.deepEqual(await client.listReanalyses({ limit: 10 }), { reanalyses: [] });
  });

  test('posts are created without those in their group whose callers gave up', async (context) => {
    const posts = await startPosts(context, world);
    const { client } = posts;
    const release = await blockWrites(posts, world);
    const create = (count: number, title: string, timeoutMs: number) =>
      Array.from({ length: count }, () => client.createPost({ post: { ...post, title } }, { timeoutMs }));
    const calls = Promise.allSettled([
      ...create(1, 'first', 10_000),
      ...create(4, 'impatient', 300),
      ...create(6, 'patient', 10_000),
    ]);
    await delay(500);
    await release();
    const outcomes = (await calls).map(({ status }) => status);
    assert.equal(outcomes.filter((status) => status === 'fulfilled').length, 7);
    const { posts: all } = await client.listPosts(listing());
    assert.deepEqual(all.map(({ title }) => title).toSorted(), ['first', ...Array(6).fill('patient')]);
  });
});

/** Holds what every write needs until the function that it gives is called. */
async function blockWrites({ dataFolder }: TestPosts, { databaseUrl }: World): Promise<() => Promise<void>> {
  if (databaseUrl === undefined) {
    const database = new DatabaseSync(join(dataFolder, 'posts.sqlite'));
    database.exec('BEGIN IMMEDIATE');
    return async () => database.close();
  }
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('BEGIN; LOCK TABLE posts.post, posts.post_total, posts.reanalysis IN EXCLUSIVE MODE');
  return () => client.end();
}
