import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { Database } from '@octavo/data';
import { startProcess, stopProcess } from '@octavo/octavo/testing';
import { PostCreated } from '@octavo/protocols/posts/v1/events';
import { type PostServiceDefinition, ReanalysisStatus } from '@octavo/protocols/posts/v1/posts';
import type { Client } from '@octavo/rpc';
import { until } from '@octavo/testing';
import type { Tables } from './database.ts';
import { bulkCreate, startPosts } from './testing/testing.ts';
import { ended, fresh, inEachProcess, type WorkWorld } from './testing/work.ts';

const batch = 500;
const bodies = ['I love this, it is wonderful!', 'Horrible, I am so disappointed.', 'It is on Tuesday.'];

await inEachProcess((each) => {
  test('a reanalysis whose worker is killed is finished by another, and nothing counts twice', async (context) => {
    const world = fresh(each, { POSTS_WORKER: 'off' });
    const { client, dataFolder, open } = await startPosts(context, world);
    await create(client, 8_000);
    const expected = await client.getAnalytics({});
    await using database = await open();
    await spoil(database);
    const { reanalysis } = await client.requestReanalysis({});
    const id = reanalysis?.id ?? '';
    // Nothing but the reanalysis classifies, so that its report can be known.
    const environment = { ...environmentOf(world, dataFolder), EVENT_STREAM: 'off' };
    const first = await startWorker(context, environment);
    await until(async () => (await classifiedIn(database)) > 500);
    await stopProcess(first, 'SIGKILL');
    const left = (await client.getReanalysis({ id })).reanalysis;
    assert.equal(left?.status, ReanalysisStatus.REANALYSIS_STATUS_RUNNING);
    await startWorker(context, environment);
    const { status, report } = await ended(client, id);
    assert.equal(status, ReanalysisStatus.REANALYSIS_STATUS_SUCCEEDED);
    assert.deepEqual(report, {
      posts: 8_000,
      statisticsRepaired: true,
      classified: 8_000,
      labelsChanged: 8_000,
    });
    assert.deepEqual(await client.getAnalytics({}), expected);
  });

  test('posts whose worker is killed are classified by another, and published once and in order', async (context) => {
    const world = fresh(each, { POSTS_WORKER: 'off' });
    const { client, dataFolder, open } = await startPosts(context, world);
    const environment = environmentOf(world, dataFolder);
    await using database = await open();
    const first = await startWorker(context, environment);
    const creating = create(client, 4_000);
    await until(async () => (await classifiedIn(database)) > 500);
    await stopProcess(first, 'SIGKILL');
    await creating;
    assert.ok((await classifiedIn(database)) < 4_000);
    await startWorker(context, environment);
    await until(async () => (await classifiedIn(database)) === 4_000);
    const { classification } = await client.getPostSentiment({ id: 4_000 });
    assert.equal(classification?.model, 'octavo-1');
    if (world.nats)
      assert.deepEqual(
        await publishedIds(world),
        Array.from({ length: 4_000 }, (_, at) => at + 1),
      );
  });
});

/** The ids of the posts whose creation is in the stream, in its order. */
async function publishedIds({ nats, settings }: WorkWorld): Promise<number[]> {
  const connection = await connect({ servers: nats?.url ?? '' });
  const stream = `${settings?.NATS_PREFIX?.toUpperCase()}_POSTS`;
  const consumer = await jetstream(connection).consumers.get(stream);
  const ids: number[] = [];
  const { num_pending } = await consumer.info();
  let left = num_pending;
  for await (const message of await consumer.consume()) {
    if (message.headers?.get('ce-type') === 'post.created.v1') ids.push(PostCreated.decode(message.data).id);
    if (--left === 0) break;
  }
  await connection.close();
  return ids;
}

async function create(client: Client<PostServiceDefinition>, count: number): Promise<void> {
  for (let start = 0; start < count; start += batch) {
    const rows = Array.from({ length: batch }, (_, index) => ({
      userId: 1 + (index % 3),
      title: `Title ${start + index}`,
      body: bodies[index % 3] ?? '',
    }));
    await bulkCreate(client, rows);
  }
}

function environmentOf({ databaseUrl, settings }: WorkWorld, dataFolder: string) {
  return {
    ...settings,
    DATABASE_URL: databaseUrl ?? '',
    OCTAVO_DATA: dataFolder,
    NODE_ENV: 'test',
    LOG_LEVEL: 'fatal',
  };
}

async function startWorker(
  context: TestContext,
  environment: Record<string, string | undefined>,
): Promise<ChildProcess> {
  const { child } = await startProcess('posts-worker', environment);
  context.after(() => stopProcess(child));
  return child;
}

async function classifiedIn(database: Database<Tables>): Promise<number> {
  const sentiments = database.kysely.selectFrom('post_sentiment');
  return (await sentiments.select((e) => e.fn.countAll<number>().as('count')).executeTakeFirstOrThrow())
    .count;
}

/** Makes the stored statistics wrong. */
function spoil({ kysely }: Database<Tables>) {
  return kysely
    .updateTable('character_tally')
    .set((e) => ({ occurrences: e('occurrences', '+', 7) }))
    .execute();
}
