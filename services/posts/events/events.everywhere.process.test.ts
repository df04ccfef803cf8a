import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createTraceparent, formatTraceparent, readConfig, systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import type { StreamEvent } from '@octavo/data/events';
import {
  PostCreated,
  PostDeleted,
  PostRestored,
  PostSentiment,
  PostUpdated,
  ReanalysisRequested,
} from '@octavo/protocols/posts/v1/events';
import { SentimentLabel } from '@octavo/protocols/posts/v1/posts';
import { until } from '@octavo/testing';
import { Registry } from 'prom-client';
import { brokerSettings, openBrokers } from '../brokers.ts';
import { bulkCreate, refusal, startPosts, type TestPosts } from '../testing/testing.ts';
import { ended, fresh, onEveryBroker, type WorkWorld } from '../testing/work.ts';
import { eventTypes } from './events.ts';

const praise = 'I love this, it is wonderful!';
const complaint = 'Horrible, I am so disappointed.';

await onEveryBroker((each) => {
  test('every change is published, in order, with its details', async (context) => {
    const world = fresh(each, { INFERENCE: 'off' });
    const posts = await startPosts(context, world);
    const { client, clock } = posts;
    const seen = await consume(context, world, posts);
    const nowMs = clock.now();
    const trace = createTraceparent();
    const traceparent = formatTraceparent(trace);
    await client.createPost({ post: { userId: 7, title: 'One', body: 'b' } }, { traceparent });
    await client.updatePost({ id: 1, title: 'Two', ifRevisions: [] });
    await client.updatePost({ id: 1, title: 'Two', ifRevisions: [] });
    assert.equal(
      (await refusal(client.updatePost({ id: 1, title: 'x', ifRevisions: [9] }))).code,
      'precondition_failed',
    );
    await client.deletePost({ id: 1, ifRevisions: [] });
    await client.restorePost({ id: 1 });
    const { reanalysis } = await client.requestReanalysis({}, { traceparent });
    await until(() => seen.length >= 5);
    assert.deepEqual(
      seen.map(({ type, subject }) => `${type} ${subject}`),
      [
        'post.created.v1 1',
        'post.updated.v1 1',
        'post.deleted.v1 1',
        'post.restored.v1 1',
        `reanalysis.requested.v1 ${reanalysis?.id}`,
      ],
    );
    const [created, updated, deleted, restored, requested] = seen.map(({ data }) => data) as [
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Uint8Array,
      Uint8Array,
    ];
    assert.deepEqual(PostCreated.decode(created), { id: 1, userId: 7, createdAtMs: nowMs, revision: 1 });
    assert.deepEqual(PostUpdated.decode(updated), { id: 1, userId: 7, updatedAtMs: nowMs, revision: 2 });
    assert.deepEqual(PostDeleted.decode(deleted), { id: 1, userId: 7, deletedAtMs: nowMs });
    assert.deepEqual(PostRestored.decode(restored), { id: 1, userId: 7, restoredAtMs: nowMs, revision: 2 });
    assert.deepEqual(ReanalysisRequested.decode(requested), {
      reanalysisId: reanalysis?.id,
      requestedAtMs: nowMs,
    });
    const traces = seen.map((event) => event.traceparent?.split('-')[1]);
    assert.deepEqual([traces[0], traces[4]], [trace.traceId, trace.traceId]);
    assert.ok(seen.every(({ source }) => source.endsWith('/posts')));
    await ended(client, reanalysis?.id);
  });

  test('a bulk of 1,000 is published post by post, and single posts with their own traces', async (context) => {
    const world = fresh(each, { INFERENCE: 'off' });
    const posts = await startPosts(context, world);
    const seen = await consume(context, world, posts);
    const rows = Array.from({ length: 1_000 }, (_, at) => ({
      userId: 1 + (at % 7),
      title: `T${at}`,
      body: 'b',
    }));
    await bulkCreate(posts.client, rows);
    const traces = Array.from({ length: 50 }, createTraceparent);
    await Promise.all(
      traces.map((trace, at) =>
        posts.client.createPost(
          { post: { userId: 100 + at, title: 'Single', body: 'b' } },
          { traceparent: formatTraceparent(trace) },
        ),
      ),
    );
    await until(() => seen.length >= 1_050);
    const all = seen.map(({ data }) => PostCreated.decode(data));
    assert.deepEqual(
      all.map(({ id }) => id),
      Array.from({ length: 1_050 }, (_, at) => at + 1),
    );
    assert.deepEqual(
      all.slice(0, 1_000).map(({ userId }) => userId),
      rows.map(({ userId }) => userId),
    );
    for (const [index, { userId }] of all.entries()) {
      if (index >= 1_000)
        assert.equal(seen[index]?.traceparent?.split('-')[1], traces[userId - 100]?.traceId);
    }
    assert.equal(new Set(seen.map(({ id }) => id)).size, 1_050);
  });

  test('posts that were created without a worker are classified later, with an event', async (context) => {
    const world = fresh(each);
    const idle = { ...world, settings: { ...world.settings, POSTS_WORKER: 'off' } };
    const { client, dataFolder, stop } = await startPosts(context, idle);
    await bulkCreate(client, [
      { userId: 1, title: 'Lunch', body: praise },
      { userId: 1, title: 'Dinner', body: complaint },
      { userId: 1, title: 'Gone', body: praise },
    ]);
    await client.deletePost({ id: 3, ifRevisions: [] });
    assert.equal((await refusal(client.getPostSentiment({ id: 1 }))).code, 'not_found');
    await stop();
    const posts = await startPosts(context, world, dataFolder);
    const seen = await consume(context, world, posts);
    const published = () => seen.filter(({ type }) => type === eventTypes.sentiment);
    await until(() => published().length >= 2);
    const sentiments = published().map(({ data }) => PostSentiment.decode(data));
    assert.deepEqual(
      sentiments.map(({ postId, revision, classification }) => [postId, revision, classification?.label]),
      [
        [1, 1, SentimentLabel.SENTIMENT_LABEL_POSITIVE],
        [2, 1, SentimentLabel.SENTIMENT_LABEL_NEGATIVE],
      ],
    );
    const { classification } = await posts.client.getPostSentiment({ id: 2 });
    assert.deepEqual(classification, sentiments[1]?.classification);
    assert.equal((await refusal(posts.client.getPostSentiment({ id: 3 }))).code, 'not_found');
    await posts.client.updatePost({ id: 1, body: complaint, ifRevisions: [] });
    await until(() => published().length >= 3);
    assert.equal(PostSentiment.decode(published()[2]?.data ?? new Uint8Array()).revision, 2);
  });

  test('without events nothing is published, and new posts are not classified', async (context) => {
    const { client, open } = await startPosts(context, fresh(each, { EVENT_STREAM: 'off' }));
    await client.createPost({ post: { userId: 1, title: 'Quiet', body: praise } });
    await using database = await open();
    const rows = await database.kysely.selectFrom('event_outbox').selectAll().execute();
    assert.deepEqual(rows, []);
    const { reanalysis } = await client.requestReanalysis({});
    await ended(client, reanalysis?.id);
    const { classification } = await client.getPostSentiment({ id: 1 });
    assert.equal(classification?.label, SentimentLabel.SENTIMENT_LABEL_POSITIVE);
  });
});

/** Consumes the events of a process in another one. */
async function consume(t: TestContext, { settings }: WorkWorld, { open }: TestPosts): Promise<StreamEvent[]> {
  const stack = new AsyncDisposableStack();
  const database = stack.use(await open());
  const context = { log: silentLog, metrics: new Registry(), clock: systemClock };
  const config = readConfig(brokerSettings, settings ?? {});
  const { events } = stack.use(await openBrokers(config, context, database));
  const seen: StreamEvent[] = [];
  const types = Object.values(eventTypes);
  const consumer = events?.consume({ name: 'test', types, batchMax: 300 }, async (batch) => {
    seen.push(...batch);
  });
  if (consumer) stack.use(consumer);
  t.after(() => stack.disposeAsync());
  return seen;
}
