import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PostSort, SentimentLabel, type Post as WirePost } from '@octavo/protocols/posts/v1/posts';
import fc from 'fast-check';
import type { SentimentRow } from '../database.ts';
import {
  bulkCreate,
  exported,
  inTestMode,
  listing,
  refusal,
  startPosts,
  type TestPosts,
} from '../testing/testing.ts';

const labels: Readonly<Record<SentimentRow['label'], SentimentLabel>> = {
  negative: SentimentLabel.SENTIMENT_LABEL_NEGATIVE,
  neutral: SentimentLabel.SENTIMENT_LABEL_NEUTRAL,
  positive: SentimentLabel.SENTIMENT_LABEL_POSITIVE,
};
const names = Object.keys(labels) as SentimentRow['label'][];
const { SENTIMENT_LABEL_NEGATIVE, SENTIMENT_LABEL_POSITIVE } = SentimentLabel;

await inTestMode((world) => {
  test('posts are found by time of creation and by sentiment', async (context) => {
    const posts = await startPosts(context, world);
    const { client, clock } = posts;
    const times: number[] = [];
    for (let id = 1; id <= 6; id++) {
      times.push(clock.now());
      await bulkCreate(client, [{ userId: 1 + (id % 2), title: `Post ${id}`, body: 'x' }]);
      clock.advance(1_000);
    }
    await classify(
      posts,
      new Map([
        [1, 'negative'],
        [2, 'positive'],
        [3, 'negative'],
        [5, 'neutral'],
      ]),
    );
    const found = async (filter: Parameters<typeof exported>[1]) => {
      const { posts, total } = await client.listPosts(listing({ filter, descending: false }));
      assert.deepEqual(await exported(client, filter), posts);
      assert.equal(total, posts.length);
      return posts.map(({ id }) => id);
    };
    const [first = 0, , third = 0] = times;
    assert.deepEqual(await found({ createdFromMs: third }), [3, 4, 5, 6]);
    assert.deepEqual(await found({ createdFromMs: third + 1 }), [4, 5, 6]);
    assert.deepEqual(await found({ createdBeforeMs: third }), [1, 2]);
    assert.deepEqual(await found({ createdBeforeMs: third + 1 }), [1, 2, 3]);
    assert.deepEqual(await found({ createdFromMs: third, createdBeforeMs: third }), []);
    assert.deepEqual(
      await found({ createdFromMs: -5, createdBeforeMs: clock.now() + 1 }),
      [1, 2, 3, 4, 5, 6],
    );
    assert.deepEqual(await found({ createdFromMs: clock.now() }), []);
    assert.deepEqual(await found({ createdBeforeMs: first }), []);
    assert.deepEqual(await found({ sentiment: SENTIMENT_LABEL_NEGATIVE }), [1, 3]);
    assert.deepEqual(await found({ sentiment: SENTIMENT_LABEL_NEGATIVE, createdFromMs: third }), [3]);
    assert.deepEqual(await found({ sentiment: SENTIMENT_LABEL_POSITIVE, userId: 1, search: 'POST' }), [2]);
    await client.deletePost({ id: 3, ifRevisions: [] });
    assert.deepEqual(await found({ sentiment: SENTIMENT_LABEL_NEGATIVE }), [1]);
    assert.deepEqual(await found({ createdFromMs: third }), [4, 5, 6]);
  });

  test('a sentiment is refused if it is unknown, or if nothing is classified', async (context) => {
    const { client } = await startPosts(context, world);
    const unknown = await refusal(client.listPosts(listing({ filter: { sentiment: 9 as SentimentLabel } })));
    assert.deepEqual([unknown.code, Object.keys(unknown.fields)], ['validation_failed', ['sentiment']]);
    const off = await startPosts(context, { ...world, settings: { INFERENCE: 'off' } });
    const filter = { sentiment: SENTIMENT_LABEL_NEGATIVE };
    const calls = [() => off.client.listPosts(listing({ filter })), () => exported(off.client, filter)];
    for (const call of calls) {
      const { code, fields } = await refusal(call());
      assert.deepEqual([code, fields], ['unavailable', { integration: 'inferenceServer' }]);
    }
  });

  test('any filter in any order gives the same as a search by hand', async (context) => {
    const posts = await startPosts(context, world);
    const { client, clock } = posts;
    const startMs = clock.now();
    for (let group = 0; group < 12; group++) {
      const rows = Array.from({ length: 25 }, (_, index) => ({
        userId: 1 + (index % 3),
        title: `${(index * 7) % 5} ${group % 3}`,
        body: `body ${index % 4}`,
      }));
      await bulkCreate(client, rows);
      clock.advance(10);
    }
    await client.deletePost({ id: 30, ifRevisions: [] });
    const all = await exported(client, {});
    const sentiments = new Map(
      all.flatMap(({ id }) => (id % 5 === 4 ? [] : [[id, names[id % 3] ?? 'neutral']])),
    );
    await classify(posts, sentiments);
    const sorts: [PostSort, (post: WirePost) => string | number][] = [
      [PostSort.POST_SORT_ID, ({ id }) => id],
      [PostSort.POST_SORT_TITLE, ({ title }) => title],
      [PostSort.POST_SORT_UPDATED_AT, ({ updatedAtMs }) => updatedAtMs],
    ];
    const time = fc.option(
      fc.integer({ min: -5, max: 125 }).map((ms) => startMs + ms),
      { nil: undefined },
    );
    const requests = fc.record({
      sort: fc.constantFrom(...sorts),
      descending: fc.boolean(),
      page: fc.integer({ min: 1, max: 5 }),
      userId: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
      search: fc.constantFrom(undefined, 'body 1', '2', 'y'),
      createdFromMs: time,
      createdBeforeMs: time,
      label: fc.constantFrom(undefined, ...names),
    });
    await fc.assert(
      fc.asyncProperty(requests, async ({ sort: [sort, key], descending, page, label, ...filter }) => {
        const { userId, search, createdFromMs, createdBeforeMs } = filter;
        const matching = all.filter(
          (post) =>
            (userId === undefined || post.userId === userId) &&
            (search === undefined || `${post.title}\n${post.body}`.includes(search)) &&
            (createdFromMs === undefined || post.createdAtMs >= createdFromMs) &&
            (createdBeforeMs === undefined || post.createdAtMs < createdBeforeMs) &&
            (label === undefined || sentiments.get(post.id) === label),
        );
        const sorted = matching.sort(
          (a, b) => (order(key(a), key(b)) || a.id - b.id) * (descending ? -1 : 1),
        );
        const request = { filter: { ...filter, sentiment: label && labels[label] }, sort, descending, page };
        const found = await client.listPosts({ ...request, pageSize: 40 });
        assert.equal(found.total, matching.length);
        assert.deepEqual(found.posts, sorted.slice((page - 1) * 40, page * 40));
      }),
      { numRuns: 200 },
    );
  });
});

/** Stores sentiments as the model would. */
async function classify({ open }: TestPosts, sentiments: ReadonlyMap<number, SentimentRow['label']>) {
  await using database = await open();
  const rows = [...sentiments].map(([post_id, label]) => ({ post_id, label, ...unimportant }));
  await database.write((session) => session.kysely.insertInto('post_sentiment').values(rows).execute());
}

const unimportant = { revision: 1, negative: 0, neutral: 1, positive: 0, model: 'm', classified_at_ms: 0 };

function order(a: string | number, b: string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
