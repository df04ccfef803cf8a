import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PostSort, type Post as WirePost } from '@octavo/protocols/posts/v1/posts';
import fc from 'fast-check';
import { bulkCreate, exported, inTestMode, listing, refusal, startPosts } from '../testing/testing.ts';

const sorts: readonly [PostSort, (post: WirePost) => string | number][] = [
  [PostSort.POST_SORT_ID, ({ id }) => id],
  [PostSort.POST_SORT_TITLE, ({ title }) => title],
  [PostSort.POST_SORT_CREATED_AT, ({ createdAtMs }) => createdAtMs],
  [PostSort.POST_SORT_UPDATED_AT, ({ updatedAtMs }) => updatedAtMs],
  [PostSort.POST_SORT_UNSPECIFIED, ({ id }) => id],
];

await inTestMode((world) => {
  test('a page past the end is empty and knows the total', async (context) => {
    const { client } = await startPosts(context, world);
    assert.deepEqual(await client.listPosts(listing()), { posts: [], total: 0 });
    await bulkCreate(client, rowsOf(['a', 'b', 'c']));
    for (const page of [2, 99, Number.MAX_SAFE_INTEGER]) {
      for (const [sort] of sorts) {
        assert.deepEqual(await client.listPosts(listing({ sort, page })), { posts: [], total: 3 });
        assert.deepEqual(await client.listPosts(listing({ sort, page, filter: { search: 'a' } })), {
          posts: [],
          total: 3,
        });
      }
    }
    assert.deepEqual(await client.listPosts(listing({ filter: { userId: 4 } })), { posts: [], total: 0 });
  });

  test('an invalid page is refused by field', async (context) => {
    const { client } = await startPosts(context, world);
    const refused: [Parameters<typeof listing>[0], string][] = [
      [{ page: 0 }, 'page'],
      [{ page: -1 }, 'page'],
      [{ pageSize: 0 }, 'pageSize'],
      [{ pageSize: 101 }, 'pageSize'],
      [{ filter: { userId: 0 } }, 'userId'],
      [{ filter: { search: '😀'.repeat(257) } }, 'search'],
    ];
    for (const [request, field] of refused) {
      const { code, fields } = await refusal(client.listPosts(listing(request)));
      assert.deepEqual([code, Object.keys(fields)], ['validation_failed', [field]]);
    }
  });
});

await inTestMode((world) => {
  test('titles are in the order of code points, and equal ones in that of ids', async (context) => {
    const { client } = await startPosts(context, world);
    const titles = [
      'b',
      'a',
      'B',
      '\u{1f600}',
      '\uffee',
      'é',
      'e\u0301',
      'a',
      'ab',
      '_',
      '\u{10000}',
      '\ue000',
      'A',
    ];
    await bulkCreate(client, rowsOf(titles));
    const inOrder = [
      'A',
      'B',
      '_',
      'a',
      'a',
      'ab',
      'b',
      'e\u0301',
      'é',
      '\ue000',
      '\uffee',
      '\u{10000}',
      '\u{1f600}',
    ];
    for (const descending of [false, true]) {
      const { posts } = await client.listPosts(listing({ sort: PostSort.POST_SORT_TITLE, descending }));
      assert.deepEqual(
        posts.map(({ title }) => title),
        descending ? inOrder.toReversed() : inOrder,
      );
      const twins = posts.filter(({ title }) => title === 'a').map(({ id }) => id);
      assert.deepEqual(twins, descending ? [8, 2] : [2, 8]);
    }
  });

  test('any page in any order is the same as that of a sorted export', async (context) => {
    const { client, clock } = await startPosts(context, world);
    const ids: number[] = [];
    for (let group = 0; group < 12; group++) {
      ids.push(
        ...(await bulkCreate(
          client,
          rowsOf(Array.from({ length: 25 }, (_, index) => `${(index * 7) % 5} ${group % 3}`)),
        )),
      );
      clock.advance(group % 4);
    }
    for (const id of ids.filter((_, index) => index % 6 === 0)) {
      await client.updatePost({ id, body: `changed ${id % 7}`, ifRevisions: [] });
      clock.advance(id % 2);
    }
    await client.deletePost({ id: 17, ifRevisions: [] });
    const requests = fc.record({
      sort: fc.constantFrom(...sorts),
      descending: fc.boolean(),
      page: fc.integer({ min: 1, max: 32 }),
      pageSize: fc.integer({ min: 1, max: 100 }),
      userId: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      search: fc.constantFrom(undefined, '1', ' 2', 'changed', 'CHANGED 3', 'body', 'zzz'),
    });
    await fc.assert(
      fc.asyncProperty(
        requests,
        async ({ sort: [sort, key], descending, page, pageSize, userId, search }) => {
          const filter = { userId, search };
          const { posts, total } = await client.listPosts({ filter, sort, descending, page, pageSize });
          const all = await exported(client, filter);
          const sorted = all.sort((a, b) => (compare(key(a), key(b)) || a.id - b.id) * (descending ? -1 : 1));
          assert.equal(total, all.length);
          assert.deepEqual(posts, sorted.slice((page - 1) * pageSize, page * pageSize));
        },
      ),
      { numRuns: 150 },
    );
  });

  test('an export is of one snapshot, by ascending ids', async (context) => {
    const { client } = await startPosts(context, world);
    await bulkCreate(client, rowsOf(Array.from({ length: 950 }, (_, index) => `title ${index}`)));
    const ids: number[] = [];
    for await (const { posts } of client.exportPosts({ filter: {} })) {
      if (ids.length === 0) {
        await bulkCreate(client, rowsOf(['late']));
        await client.deletePost({ id: 900, ifRevisions: [] });
        await client.updatePost({ id: 901, title: 'late', ifRevisions: [] });
      }
      assert.ok(posts.every(({ title }) => title !== 'late'));
      ids.push(...posts.map(({ id }) => id));
    }
    assert.deepEqual(
      ids,
      Array.from({ length: 950 }, (_, index) => index + 1),
    );
    assert.equal((await exported(client, { search: 'LATE' })).length, 2);
    assert.equal((await exported(client, { userId: 2, search: 'title 1' })).length, 39);
  });

  test('an export that is not read to its end leaves nothing open', async (context) => {
    const { client } = await startPosts(context, world);
    await bulkCreate(client, rowsOf(Array.from({ length: 1_000 }, (_, index) => `title ${index}`)));
    for (let round = 0; round < 20; round++) {
      for await (const { posts } of client.exportPosts({ filter: {} })) {
        assert.ok(posts.length > 0);
        break;
      }
    }
    assert.equal((await client.listPosts(listing())).total, 1_000);
  });
});

function rowsOf(titles: readonly string[]): { userId: number; title: string; body: string }[] {
  return titles.map((title, index) => ({
    userId: 1 + (index % 3),
    title,
    body: `The body of ${title}, ABC`,
  }));
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return Number(a) - Number(b);
}
