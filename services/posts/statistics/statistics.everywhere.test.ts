import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  GetAnalyticsResponse,
  PostServiceDefinition,
  Post as WirePost,
} from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import fc from 'fast-check';
import { bulkCreate, exported, inTestMode, startPosts } from '../testing/testing.ts';
import { recountStatistics } from './recount.ts';

await inTestMode((world) => {
  test('without posts all statistics are zero', async (context) => {
    const { client } = await startPosts(context, world);
    assert.deepEqual(await client.getAnalytics({}), analyse([]));
  });

  test('statistics count code points as stored, and hours in UTC', async (context) => {
    const { client, clock } = await startPosts(context, world);
    clock.set(Date.UTC(2026, 2, 29, 23, 59, 59, 999));
    await client.createPost({ post: { userId: 7, title: 'aA', body: '😀 ' } });
    clock.advance(1);
    await client.createPost({ post: { userId: Number.MAX_SAFE_INTEGER, title: 'e\u0301', body: 'a' } });
    const figures = await client.getAnalytics({});
    assert.equal(figures.totalCharacters, 7);
    assert.equal(figures.uniqueCharacters, 6);
    assert.deepEqual(figures.topCharacters[0], { codePoint: 97, count: 2 });
    assert.deepEqual(
      figures.topCharacters.map(({ codePoint }) => codePoint),
      [97, 32, 65, 101, 0x301, 0x1f600],
    );
    assert.equal(figures.medianPostLength, 3);
    assert.deepEqual(
      figures.postsPerUser,
      new Map([
        [7, 1],
        [Number.MAX_SAFE_INTEGER, 1],
      ]),
    );
    assert.deepEqual([figures.postsPerHour[23], figures.postsPerHour[0]], [1, 1]);
  });
});

const text = fc
  .string({
    unit: fc.constantFrom('a', 'b', 'é', 'e\u0301', '中', '🙂', '👩‍💻', ' '),
    minLength: 1,
    maxLength: 8,
  })
  .map((value) => `x${value}`);
const post = fc.record({ userId: fc.integer({ min: 1, max: 3 }), title: text, body: text });
const step = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), post }),
  fc.record({ kind: fc.constant('bulk' as const), posts: fc.array(post, { minLength: 1, maxLength: 20 }) }),
  fc.record({ kind: fc.constant('update' as const), at: fc.nat(), title: text }),
  fc.record({ kind: fc.constant('delete' as const), at: fc.nat() }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 9_000_000 }) }),
);

await inTestMode((world) => {
  test('the statistics are those of a full recount after any changes', async (context) => {
    const { client, clock } = await startPosts(context, world);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        for (const one of steps) {
          if (one.kind === 'wait') clock.advance(one.ms);
          else await take(client, one);
        }
        const posts = await exported(client);
        assert.deepEqual(await client.getAnalytics({}), analyse(posts));
      }),
      { numRuns: 30 },
    );
  });

  test('a recount repairs what was wrong, while others write', async (context) => {
    const { client, open } = await startPosts(context, world);
    await bulkCreate(client, fc.sample(post, { numRuns: 700, seed: 5 }));
    await using database = await open();
    assert.deepEqual(await recountStatistics(database), { posts: 700, agreed: true });
    await database.kysely.updateTable('post_total').set({ posts: 3, characters: 4 }).execute();
    await database.kysely.updateTable('user_tally').set({ posts: 5 }).where('user_id', '=', 1).execute();
    await database.kysely.deleteFrom('character_tally').where('code_point', '>', 1_000).execute();
    await database.kysely.insertInto('length_tally').values({ length: 9_999, posts: 3 }).execute();
    await database.kysely.updateTable('hour_tally').set({ posts: 0 }).execute();
    const [report] = await Promise.all([
      recountStatistics(database),
      ...fc.sample(post, { numRuns: 40, seed: 6 }).map((one) => client.createPost({ post: one })),
      client.deletePost({ id: 3, ifRevisions: [] }),
    ]);
    assert.equal(report.agreed, false);
    assert.deepEqual(await client.getAnalytics({}), analyse(await exported(client)));
    assert.equal((await recountStatistics(database)).agreed, true);
  });
});

type Change = Exclude<typeof step extends fc.Arbitrary<infer T> ? T : never, { kind: 'wait' }>;

async function take(client: Client<PostServiceDefinition>, change: Change): Promise<void> {
  if (change.kind === 'create') await client.createPost({ post: change.post });
  else if (change.kind === 'bulk') await bulkCreate(client, change.posts);
  else {
    const posts = await exported(client);
    const target = posts[change.at % Math.max(1, posts.length)];
    if (!target) return;
    if (change.kind === 'delete') await client.deletePost({ id: target.id, ifRevisions: [] });
    else await client.updatePost({ id: target.id, title: change.title, ifRevisions: [target.revision] });
  }
}

/** The contract in plain words. */
function analyse(posts: readonly WirePost[]): GetAnalyticsResponse {
  const characters = posts.flatMap(({ title, body }) => [...title, ...body]);
  const counts = countBy(characters.map((character) => character.codePointAt(0) as number));
  const lengths = posts.map(({ title, body }) => [...title].length + [...body].length).sort((a, b) => a - b);
  const middle = lengths.length >> 1;
  const [lower = 0, upper = 0] =
    lengths.length % 2 === 1 ? [lengths[middle], lengths[middle]] : [lengths[middle - 1], lengths[middle]];
  const hours = countBy(posts.map(({ createdAtMs }) => new Date(createdAtMs).getUTCHours()));
  return {
    totalPosts: posts.length,
    totalCharacters: characters.length,
    uniqueCharacters: counts.size,
    topCharacters: [...counts]
      .sort(([a, countA], [b, countB]) => countB - countA || a - b)
      .slice(0, 20)
      .map(([codePoint, count]) => ({ codePoint, count })),
    medianPostLength: Math.floor((lower + upper) / 2),
    postsPerUser: new Map([...countBy(posts.map(({ userId }) => userId))].sort(([a], [b]) => a - b)),
    postsPerHour: Array.from({ length: 24 }, (_, hour) => hours.get(hour) ?? 0),
  };
}

function countBy(values: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
