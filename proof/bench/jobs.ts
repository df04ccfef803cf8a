/**
 * Jobs a second, queued and done, through a table of SQLite, one of PostgreSQL and NATS JetStream: jobs that do nothing, queued a hundred at
 * a time while a worker does 64 at once. Beside them bare node:sqlite (a transaction to queue, to take and to end each job), and bare
 * JetStream (publish, consume, acknowledge). Rounds alternate, the best of each counts.
 * Then, with 1,000 posts created a second, one by one: how long after its time a consumer in another process has an event,
 * and how long after the creation of a post its sentiment is classified.
 *
 *   node proof/bench/jobs.ts [rounds] [jobs] [seconds]
 *
 * BENCH_POSTGRES_URL names the PostgreSQL (postgres://postgres@127.0.0.1:5432/test), BENCH_NATS_URL the NATS (nats://127.0.0.1:4222).
 */

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { newId, readConfig, systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { openDatabase } from '@octavo/data';
import { type JobQueue, type JobTables, openNatsJobs, openTableJobs } from '@octavo/data/jobs';
import { NatsLink } from '@octavo/data/nats';
import { Registry } from 'prom-client';
import { brokerSettings, openBrokers } from '../../services/posts/brokers.ts';
import { createCorpus } from '../../services/posts/corpus.ts';
import { openPostDatabase } from '../../services/posts/database.ts';
import { eventTypes } from '../../services/posts/events/index.ts';
import { quantile, scratchFolder, startBenchPosts } from './posts-bench.ts';

const [rounds = 3, jobs = 10_000, seconds = 10] = process.argv.slice(2).map(Number);
const postgresUrl = process.env.BENCH_POSTGRES_URL || 'postgres://postgres@127.0.0.1:5432/test';
const natsUrl = process.env.BENCH_NATS_URL || 'nats://127.0.0.1:4222';
const batch = 100;
const concurrency = 64;
const options = { clock: systemClock, leaseMs: 15_000, log: silentLog };
const migrations = new URL('../../packages/data/jobs/contract/migrations/', import.meta.url);

const ways: Readonly<Record<string, () => Promise<number>>> = {
  'bare SQLite': bareSqlite,
  'table of SQLite': () => throughTable(undefined),
  'table of PostgreSQL': () => throughTable(postgresUrl),
  'bare JetStream': bareJetStream,
  'NATS JetStream': throughNats,
};
const best: Record<string, number> = {};
for (let round = 0; round < rounds; round++) {
  for (const [name, run] of Object.entries(ways)) {
    const found = await run().catch((error: Error) => {
      if (round === 0) console.log(`${name}: ${error.message}`);
      return 0;
    });
    best[name] = Math.max(best[name] ?? 0, found);
  }
}
for (const [name, perSecond] of Object.entries(best)) {
  console.log(`${name.padEnd(20)} ${Math.round(perSecond)} jobs/s`);
}
for (const nats of [undefined, natsUrl]) await lag(nats);

async function throughTable(url: string | undefined): Promise<number> {
  using folder = scratchFolder();
  const place = { name: 'bench_jobs', url, folder: folder.path, migrations, log: silentLog };
  await using database = await openDatabase<JobTables>(place);
  return await through(openTableJobs(database, options));
}

async function throughNats(): Promise<number> {
  await using link = new NatsLink({ url: natsUrl, name: 'bench', log: silentLog });
  const name = `bench_${newId().slice(0, 8)}.jobs`;
  try {
    return await through(await openNatsJobs(link, { ...options, name }));
  } finally {
    const stream = name.toUpperCase().replace('.', '_');
    await link.use(({ manager }) => manager.streams.delete(stream));
    await link.use(({ manager }) => manager.streams.delete(`${stream}_DEAD`));
  }
}

async function through(queue: JobQueue): Promise<number> {
  const ids = Array.from({ length: jobs }, newId);
  const { promise: allDone, resolve } = Promise.withResolvers<void>();
  let done = 0;
  const work = { kind: 'bench', concurrency, attemptsMax: 3 };
  const startedMs = performance.now();
  const worker = queue.work(work, async () => {
    if (++done === jobs) resolve();
  });
  for (let start = 0; start < jobs; start += batch) {
    const some = ids.slice(start, start + batch);
    await queue.add(some.map((id) => ({ id, kind: 'bench', payload: Buffer.from(id) })));
  }
  await allDone;
  // The notes of the last are in it too.
  await worker[Symbol.asyncDispose]();
  return (jobs * 1_000) / (performance.now() - startedMs);
}

async function bareSqlite(): Promise<number> {
  using folder = scratchFolder();
  const database = new DatabaseSync(join(folder.path, 'bare.sqlite'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  database.exec('CREATE TABLE job (id text PRIMARY KEY, payload blob, due integer, holder text) STRICT');
  const add = database.prepare('INSERT INTO job VALUES (?, ?, 0, null)');
  const take = database.prepare(
    "UPDATE job SET holder = 'me' WHERE id = (SELECT id FROM job WHERE holder IS NULL LIMIT 1) RETURNING id",
  );
  const end = database.prepare('DELETE FROM job WHERE id = ?');
  const count = Math.min(jobs, 1_000);
  const startedMs = performance.now();
  for (let index = 0; index < count; index++) {
    const id = newId();
    add.run(id, Buffer.from(id));
    end.run((take.get() as { id: string }).id);
  }
  const perSecond = (count * 1_000) / (performance.now() - startedMs);
  database.close();
  return perSecond;
}

async function bareJetStream(): Promise<number> {
  const connection = await connect({ servers: new URL(natsUrl).host });
  const manager = await jetstreamManager(connection);
  const client = jetstream(connection);
  const stream = `BARE_${newId().slice(0, 8)}`;
  await manager.streams.add({ name: stream, subjects: [`${stream}.x`], retention: 'workqueue' });
  await manager.consumers.add(stream, { durable_name: 'x', ack_policy: 'explicit' });
  const startedMs = performance.now();
  const messages = await (await client.consumers.get(stream, 'x')).consume({ max_messages: concurrency });
  const consuming = (async () => {
    let done = 0;
    for await (const message of messages) {
      message.ack();
      if (++done === jobs) break;
    }
  })();
  for (let start = 0; start < jobs; start += batch) {
    const sent = Array.from({ length: batch }, () => client.publish(`${stream}.x`, Buffer.from(newId())));
    await Promise.all(sent);
  }
  await consuming;
  const perSecond = (jobs * 1_000) / (performance.now() - startedMs);
  await manager.streams.delete(stream);
  await connection.close();
  return perSecond;
}

async function lag(url: string | undefined): Promise<void> {
  using folder = scratchFolder();
  const prefix = `bench_${newId().slice(0, 8)}`;
  const environment = { NATS_PREFIX: prefix, ...(url && { NATS_URL: url }) };
  const corpus = createCorpus({ seed: 3, size: seconds * 1_000, users: 50 });
  const lags: number[] = [];
  {
    await using posts = await startBenchPosts(folder.path, environment);
    await using database = await openPostDatabase({ url: undefined, folder: folder.path, log: silentLog });
    const context = { log: silentLog, metrics: new Registry(), clock: systemClock };
    await using others = await openBrokers(readConfig(brokerSettings, environment), context, database);
    const consuming = { name: 'bench', types: [eventTypes.created], batchMax: 256 };
    await using _consumer = others.events?.consume(consuming, async (events) => {
      for (const { timeMs } of events) lags.push(Date.now() - timeMs);
    });
    const startedMs = performance.now();
    const created: Promise<unknown>[] = [];
    while (created.length < corpus.size) {
      const due = Math.min(corpus.size, Math.floor(performance.now() - startedMs));
      while (created.length < due) {
        const { userId, title, body } = corpus.at(created.length);
        created.push(posts.client.createPost({ post: { userId, title, body } }));
      }
      await delay(5);
    }
    await Promise.all(created);
    const perSecond = (corpus.size * 1_000) / (performance.now() - startedMs);
    while (lags.length < corpus.size) await delay(50);
    const classified = await sentimentLags(database, corpus.size);
    console.log(`${url ? 'NATS' : 'tables'}: ${Math.round(perSecond)} creates/s`);
    console.log(`  event at another process   ${spread(lags)}`);
    console.log(`  sentiment classified       ${spread(classified)}`);
  }
  if (url) await removeStreams(url, prefix);
}

/** Waits until every post has its sentiment. */
async function sentimentLags(
  database: Awaited<ReturnType<typeof openPostDatabase>>,
  count: number,
): Promise<number[]> {
  for (;;) {
    const rows = await database.kysely
      .selectFrom('post_sentiment')
      .innerJoin('post', 'post.id', 'post_sentiment.post_id')
      .select(['post.created_at_ms as created', 'post_sentiment.classified_at_ms as classified'])
      .execute();
    if (rows.length >= count) return rows.map(({ created, classified }) => classified - created);
    await delay(100);
  }
}

async function removeStreams(url: string, prefix: string): Promise<void> {
  await using link = new NatsLink({ url, name: 'bench', log: silentLog });
  for (const name of ['JOBS', 'JOBS_DEAD', 'POSTS']) {
    const stream = `${prefix.toUpperCase()}_${name}`;
    await link.use(({ manager }) => manager.streams.delete(stream)).catch(() => {});
  }
}

function spread(values: readonly number[]): string {
  return `p50 ${quantile(values, 0.5)} ms, p99 ${quantile(values, 0.99)} ms, longest ${Math.max(...values)} ms`;
}
