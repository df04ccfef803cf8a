import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type StoredSentiment, writeSentiments } from '../sentiment/store.ts';
import { inTestMode, startPosts } from '../testing/testing.ts';

const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 2, 1, 23, 59, 59, 999);
const firstDay = Math.floor(startMs / dayMs);
const none = { posts: 0, positive: 0, neutral: 0, negative: 0 };

await inTestMode((world) => {
  test('posts are counted by their day in UTC, days without posts too', async (context) => {
    const { client, clock, open } = await startPosts(context, { ...world, startMs });
    const create = async () => (await client.createPost({ post: { userId: 1, title: 'a', body: 'b' } })).post;
    const eve = await create();
    clock.advance(1);
    const created = [await create(), await create(), await create()];
    clock.advance(2 * dayMs);
    const late = await create();
    await using database = await open();
    const labels = ['positive', 'negative', 'positive'] as const;
    const sentiments = [eve, ...created.slice(0, 2)].map(
      (post, index): StoredSentiment => ({
        postId: post?.id ?? 0,
        revision: post?.revision ?? 0,
        label: labels[index] ?? 'neutral',
        probabilities: { positive: 0.5, neutral: 0.2, negative: 0.3 },
        model: 'test',
        classifiedAtMs: startMs,
      }),
    );
    await database.write((session) => writeSentiments(session, sentiments));
    const counted = async (days: number) => (await client.countPostsByDay({ days })).days;

    const days = await counted(5);
    assert.deepEqual(days, [
      { day: firstDay - 1, ...none },
      { day: firstDay, ...none, posts: 1, positive: 1 },
      { day: firstDay + 1, ...none, posts: 3, positive: 1, negative: 1 },
      { day: firstDay + 2, ...none },
      { day: firstDay + 3, ...none, posts: 1 },
    ]);
    assert.deepEqual(await counted(1), days.slice(-1));
    assert.deepEqual(await counted(4), days.slice(1));

    await client.deletePost({ id: created[0]?.id ?? 0, ifRevisions: [] });
    await client.deletePost({ id: late?.id ?? 0, ifRevisions: [] });
    assert.deepEqual(
      (await counted(3)).map(({ posts, negative }) => [posts, negative]),
      [
        [2, 0],
        [0, 0],
        [0, 0],
      ],
    );
  });

  test('the number of days is bounded', async (context) => {
    const { client } = await startPosts(context, world);
    assert.equal((await client.countPostsByDay({ days: 366 })).days.length, 366);
    for (const days of [0, -1, 367])
      await assert.rejects(client.countPostsByDay({ days }), {
        fields: { days: 'must be a whole number from 1 to 366' },
      });
  });
});
