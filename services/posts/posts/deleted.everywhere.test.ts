import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '@octavo/testing';
import { inTestMode, listing, refusal, startPosts } from '../testing/testing.ts';

const dayMs = 86_400_000;
const alice = 1;
const fog = { userId: alice, title: 'Fog', body: 'The ferries wait.' };
const anything = { ifRevisions: [] };
const all = { page: 1, pageSize: 100 };

await inTestMode((world) => {
  test('a deleted post is restored as it was, with everything that is counted and found', async (context) => {
    const { client, clock } = await startPosts(context, world);
    await client.createPost({ post: fog });
    await client.updatePost({ id: 1, body: 'The ferries sail.', ...anything });
    const before = (await client.getPost({ id: 1 })).post;
    const counted = await client.getAnalytics({});
    clock.advance(1_000);
    await client.deletePost({ id: 1, ...anything });
    assert.equal((await client.getAnalytics({})).totalPosts, 0);
    const { posts, total } = await client.listDeletedPosts(all);
    const deletedAtMs = clock.now();
    assert.deepEqual(posts, [{ post: before, deletedAtMs, keptUntilMs: deletedAtMs + 30 * dayMs }]);
    assert.equal(total, 1);
    assert.deepEqual((await client.restorePost({ id: 1 })).post, before);
    assert.deepEqual((await client.getPost({ id: 1 })).post, before);
    assert.deepEqual(await client.getAnalytics({}), counted);
    const found = await client.listPosts(listing({ filter: { search: 'FERRIES SAIL' } }));
    assert.deepEqual(found.posts, [before]);
    assert.deepEqual(await client.listDeletedPosts(all), { posts: [], total: 0 });
  });

  test('a post that is not deleted, or never was there, cannot be restored', async (context) => {
    const { client } = await startPosts(context, world);
    await client.createPost({ post: fog });
    for (const id of [1, 2]) assert.equal((await refusal(client.restorePost({ id }))).code, 'not_found');
    assert.equal((await client.getAnalytics({})).totalPosts, 1);
  });

  test('a post that many restore at once is restored once', async (context) => {
    const { client } = await startPosts(context, world);
    await client.createPost({ post: fog });
    await client.deletePost({ id: 1, ...anything });
    const settled = await Promise.allSettled(Array.from({ length: 10 }, () => client.restorePost({ id: 1 })));
    assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1);
    const { totalPosts, totalCharacters } = await client.getAnalytics({});
    assert.deepEqual([totalPosts, totalCharacters], [1, fog.title.length + fog.body.length]);
  });

  test('a post can be deleted and restored again and again, and its id is given to no other', async (context) => {
    const { client } = await startPosts(context, world);
    await client.createPost({ post: fog });
    for (let round = 0; round < 3; round++) {
      await client.deletePost({ id: 1, ...anything });
      const { post } = await client.createPost({ post: { ...fog, title: `Other ${round}` } });
      assert.equal(post?.id, round + 2);
      await client.restorePost({ id: 1 });
    }
    assert.equal((await client.listPosts(listing({ filter: { search: 'fog' } }))).total, 1);
  });

  test('the list shows the latest deleted first, page by page', async (context) => {
    const { client, clock } = await startPosts(context, world);
    for (let count = 0; count < 5; count++) await client.createPost({ post: fog });
    for (const id of [2, 5, 1, 4, 3]) {
      clock.advance(1_000);
      await client.deletePost({ id, ...anything });
    }
    const pages = await Promise.all(
      [1, 2, 3, 4].map((page) => client.listDeletedPosts({ page, pageSize: 2 })),
    );
    assert.deepEqual(
      pages.map(({ posts }) => posts.map(({ post }) => post?.id)),
      [[3, 4], [1, 5], [2], []],
    );
    assert.deepEqual(
      pages.map(({ total }) => total),
      [5, 5, 5, 5],
    );
  });

  test('after 30 days a deleted post is neither listed nor restored, and its text is removed', async (context) => {
    const { client, clock, stop, dataFolder, open } = await startPosts(context, world);
    for (let count = 0; count < 2; count++) await client.createPost({ post: fog });
    await client.deletePost({ id: 1, ...anything });
    clock.advance(dayMs);
    await client.deletePost({ id: 2, ...anything });
    clock.advance(29 * dayMs);
    assert.equal((await refusal(client.restorePost({ id: 1 }))).code, 'not_found');
    const { posts, total } = await client.listDeletedPosts(all);
    assert.deepEqual([posts.map(({ post }) => post?.id), total], [[2], 1]);
    const nowMs = clock.now();
    await stop();
    const again = await startPosts(context, { ...world, startMs: nowMs }, dataFolder);
    const database = await open();
    const kept = () => database.kysely.selectFrom('deleted_post').select('id').execute();
    await until(async () => (await kept()).length === 1);
    assert.deepEqual(await kept(), [{ id: 2 }]);
    await database[Symbol.asyncDispose]();
    assert.equal((await again.client.restorePost({ id: 2 })).post?.id, 2);
  });

  test('with POSTS_KEEP_DELETED_DAYS=0 a post is deleted for good', async (context) => {
    const settings = { ...world.settings, POSTS_KEEP_DELETED_DAYS: '0' };
    const { client, open } = await startPosts(context, { ...world, settings });
    await client.createPost({ post: fog });
    await client.deletePost({ id: 1, ...anything });
    assert.equal((await refusal(client.restorePost({ id: 1 }))).code, 'not_found');
    await using database = await open();
    assert.deepEqual(await database.kysely.selectFrom('deleted_post').selectAll().execute(), []);
  });
});
