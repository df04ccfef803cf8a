import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { globSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { AppError, createTraceparent, formatTraceparent, newId, systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { testFolder, until } from '@octavo/testing';
import {
  mountDisk,
  mountingIsForbidden,
  natsIsMissing,
  startNats,
  startTestNats,
  testDatabaseUrl,
} from '@octavo/testing/engines';
import { openDatabase } from '../db/index.ts';
import { NatsLink } from '../nats/link.ts';
import {
  type Job,
  type JobQueue,
  openNatsJobs,
  openTableJobs,
  PermanentJobError,
  type WorkOptions,
} from './index.ts';
import type { JobTables } from './table-statements.ts';

/** Long enough that a worker which gives a job back does so well before, on a busy machine too. */
const leaseMs = 1_500;
const options = { clock: systemClock, leaseMs, log: silentLog };
const postgres = await testDatabaseUrl();

// Most of the time is spent waiting for leases and servers, so the adapters run side by side.
describe('jobs', { concurrency: true }, () => {
  const inTurn = { concurrency: 1 };
  describe('in a table of SQLite', inTurn, async () => contract(await openTable(undefined)));
  describe('in a table of PostgreSQL', { ...inTurn, skip: postgres.skip }, async () =>
    contract(await openTable(postgres.url)),
  );
  describe('in NATS JetStream', { ...inTurn, skip: natsIsMissing() }, natsContract);
});

async function natsContract(): Promise<void> {
  const { kill, replace, revive, url } = await startTestNats();
  contract(await openNats(url));

  test('cannot be queued while the server is down, and those before are done once it is back', async (context) => {
    const queue = await (await openNats(url))(context);
    const kind = newKind();
    const [before, during, later] = [newId(), newId(), newId()];
    await queue.add([jobOf(before, kind)]);
    await kill();
    await assert.rejects(queue.add([jobOf(during, kind)]), withCode('unavailable'));
    await assert.rejects(queue.ping(), withCode('unavailable'));
    const seen = collect(context, queue, { kind });
    await revive();
    await until(() => seen.includes(before));
    const add = () =>
      queue.add([jobOf(later, kind)]).then(
        () => true,
        () => false,
      );
    await until(add);
    await until(() => seen.includes(later));
  });

  test('cannot be queued while the disk of the server is full', {
    skip: mountingIsForbidden(),
  }, async (context) => {
    const { disk, server } = await startNatsOnDisk();
    context.after(async () => {
      await server.kill();
      disk[Symbol.dispose]();
    });
    const queue = await (await openNats(server.url))(context);
    await queue.add([jobOf(newId())]);
    disk.fill();
    const fillUp = async () => {
      for (;;) await queue.add([{ ...jobOf(newId()), payload: randomBytes(500) }]);
    };
    await assert.rejects(fillUp(), withCode('unavailable'));
  });

  test('are taken after the server lost the numbers of its stream', async (context) => {
    const folder = testFolder('nats');
    const server = await startNats(() => folder);
    context.after(() => server.kill());
    const queue = await (await openNats(server.url))(context);
    const kind = newKind();
    const seen = collect(context, queue, { kind });
    await queue.add([jobOf(newId(), kind), jobOf(newId(), kind)]);
    await until(() => seen.length === 2);
    // The acknowledgements are stored a moment later.
    await delay(500);
    await server.kill();
    for (const path of globSync('jetstream/*/streams/*/msgs/*', { cwd: folder })) rmSync(join(folder, path));
    await server.revive();
    const later = newId();
    await until(() =>
      queue.add([jobOf(later, kind)]).then(
        () => true,
        () => false,
      ),
    );
    await until(() => seen.includes(later));
  });

  test('are taken and done again after the server lost its streams', async (context) => {
    const queue = await (await openNats(url))(context);
    const kind = newKind();
    const seen = collect(context, queue, { kind });
    const [before, after, later] = [newId(), newId(), newId()];
    await queue.add([jobOf(before, kind)]);
    await until(() => seen.includes(before));
    await replace();
    const isAdded = (id: string) =>
      queue.add([jobOf(id, kind)]).then(
        () => true,
        () => false,
      );
    await until(() => isAdded(after));
    await until(() => seen.includes(after));
    await queue.ping();
    const connection = await connect({ servers: url });
    context.after(() => connection.close());
    const { streams } = await jetstreamManager(connection);
    for await (const { config } of streams.list()) await streams.delete(config.name);
    await assert.rejects(queue.ping(), withCode('unavailable'));
    await queue.add([jobOf(later, kind)]);
    await until(() => seen.includes(later));
    await queue.ping();
  });
}

/** The folder of a server and its disk of 16 MiB. */
async function startNatsOnDisk() {
  const disk = mountDisk(16 * 1024 * 1024);
  const store = join(disk.folder, 'store');
  mkdirSync(store);
  return { disk, store, server: await startNats(() => store) };
}

/** Opens a queue, and again the same one as another process would. */
type Open = (context: TestContext) => Promise<JobQueue>;

function contract(open: Open): void {
  test('are done with what they were given', async (context) => {
    const queue = await open(context);
    const traceparent = formatTraceparent(createTraceparent());
    const job = { ...jobOf(newId()), payload: randomBytes(1_000), traceparent };
    const { promise, resolve } = Promise.withResolvers<Job>();
    work(context, queue, { kind: job.kind }, async (got) => resolve(got));
    await queue.add([job]);
    const got = await promise;
    assert.deepEqual({ ...got, payload: Buffer.from(got.payload) }, { ...job, attempt: 1 });
  });

  test('of one kind are not given to workers of another', async (context) => {
    const queue = await open(context);
    const [one, other] = [jobOf(newId()), jobOf(newId())];
    const seen = collect(context, queue, { kind: other.kind });
    await queue.add([one, other]);
    await until(() => seen.length > 0);
    assert.deepEqual(seen, [other.id]);
    const rest = collect(context, queue, { kind: one.kind });
    await until(() => rest.length > 0);
    assert.deepEqual(rest, [one.id]);
  });

  test('wait until there is a worker, and are seen by workers of other processes', async (context) => {
    const [here, there] = [await open(context), await open(context)];
    const kind = newKind();
    const ids = Array.from({ length: 300 }, newId);
    await here.add(ids.slice(0, 150).map((id) => jobOf(id, kind)));
    const seen = [
      collect(context, here, { kind, concurrency: 8 }),
      collect(context, there, { kind, concurrency: 8 }),
    ];
    await here.add(ids.slice(150).map((id) => jobOf(id, kind)));
    await until(() => seen.flat().length >= ids.length);
    assert.deepEqual(seen.flat().sort(), ids.sort());
  });

  test('that come twice are one', async (context) => {
    const queue = await open(context);
    const job = jobOf(newId());
    await Promise.all([queue.add([job]), queue.add([job, job])]);
    await queue.add([job]);
    const seen = collect(context, queue, { kind: job.kind });
    await until(() => seen.length > 0);
    await delay(100);
    assert.deepEqual(seen, [job.id]);
  });

  test('are refused under names that not every queue takes', async (context) => {
    const queue = await open(context);
    for (const id of ['', 'a b', 'a.b', 'a*', 'é', 'x'.repeat(65)]) {
      await assert.rejects(queue.add([jobOf(id)]), TypeError);
    }
  });

  test('that fail are tried again after a growing wait, then put aside, and can be revived', async (context) => {
    const queue = await open(context);
    const job = jobOf(newId());
    const attempts: { at: number; attempt: number }[] = [];
    const dead: string[] = [];
    const startMs = Date.now();
    let isBroken = true;
    const backoff = { firstMs: 100, maxMs: 1_000 };
    const onDead = async ({ id }: Job, error: string) => void dead.push(`${id} ${error}`);
    work(context, queue, { kind: job.kind, attemptsMax: 3, backoff, onDead }, async ({ attempt }) => {
      attempts.push({ at: performance.now(), attempt });
      if (isBroken) throw new Error('the disk is full ✗');
    });
    await queue.add([job]);
    await until(async () => (await queue.dead(10)).some(({ id }) => id === job.id));
    assert.deepEqual(
      attempts.map(({ attempt }) => attempt),
      [1, 2, 3],
    );
    const [first = 0, second = 0, third = 0] = attempts.map(({ at }) => at);
    assert.ok(second - first >= 49 && third - second >= 99, `${second - first} and ${third - second} ms`);
    assert.deepEqual(dead, [`${job.id} the disk is full ✗`]);
    const [found] = (await queue.dead(1)).map((one) => ({ ...one, payload: Buffer.from(one.payload) }));
    const { diedAtMs, ...rest } = found ?? { diedAtMs: 0 };
    assert.deepEqual(rest, { ...job, traceparent: undefined, attempts: 3, error: 'the disk is full ✗' });
    assert.ok(diedAtMs >= startMs && diedAtMs <= Date.now());
    isBroken = false;
    await queue.revive(job.id);
    await until(() => attempts.length === 4);
    assert.equal(
      (await queue.dead(10)).some(({ id }) => id === job.id),
      false,
    );
    await assert.rejects(queue.revive(job.id), withCode('not_found'));
    await assert.rejects(queue.revive(newId()), withCode('not_found'));
  });

  test('without hope are put aside at once', async (context) => {
    const queue = await open(context);
    const job = jobOf(newId());
    let attempts = 0;
    work(context, queue, { kind: job.kind }, async () => {
      attempts++;
      throw new PermanentJobError('unknown job');
    });
    await queue.add([job]);
    await until(async () => (await queue.dead(10)).some(({ id }) => id === job.id));
    assert.equal(attempts, 1);
  });

  test('that take longer than the lease stay with their worker', async (context) => {
    const [here, there] = [await open(context), await open(context)];
    const job = jobOf(newId());
    let runs = 0;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const handler = async (_job: Job, signal: AbortSignal) => {
      runs++;
      await delay(3 * leaseMs);
      resolve(signal.aborted);
    };
    work(context, here, { kind: job.kind }, handler);
    work(context, there, { kind: job.kind }, handler);
    await here.add([job]);
    assert.equal(await promise, false);
    await delay(leaseMs);
    assert.equal(runs, 1);
  });

  test('of a worker that stops are given back at once', async (context) => {
    const [here, there] = [await open(context), await open(context)];
    const job = jobOf(newId());
    const { promise, resolve } = Promise.withResolvers<void>();
    const stopping = here.work({ ...usual, kind: job.kind }, async (_job, signal) => {
      resolve();
      await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    });
    await here.add([job]);
    await promise;
    await stopping[Symbol.asyncDispose]();
    const startedMs = performance.now();
    const seen = collect(context, there, { kind: job.kind });
    await until(() => seen.length > 0);
    assert.ok(performance.now() - startedMs < leaseMs, 'it waited for the lease');
  });
}

const usual = { concurrency: 1, attemptsMax: 3, backoff: { firstMs: 50, maxMs: 200 } };

function work(
  context: TestContext,
  queue: JobQueue,
  changes: Partial<WorkOptions> & Pick<WorkOptions, 'kind'>,
  handler: (job: Job, signal: AbortSignal) => Promise<void>,
): void {
  const worker = queue.work({ ...usual, ...changes }, handler);
  context.after(() => worker[Symbol.asyncDispose]());
}

/** The ids of the jobs that a new worker does. */
function collect(
  context: TestContext,
  queue: JobQueue,
  changes: Partial<WorkOptions> & Pick<WorkOptions, 'kind'>,
): string[] {
  const seen: string[] = [];
  work(context, queue, changes, async ({ id }) => void seen.push(id));
  return seen;
}

let kinds = 0;
function newKind(): string {
  return `kind-${++kinds}-${randomBytes(4).toString('hex')}`;
}

/** Creates a job, by default of a new kind, so that tests do not meet. */
function jobOf(id: string, kind = newKind()): { id: string; kind: string; payload: Buffer } {
  return { id, kind, payload: Buffer.from(`for ${id}`) };
}

async function openTable(url: string | undefined): Promise<Open> {
  const folder = testFolder('jobs');
  const migrations = new URL('./contract/migrations/', import.meta.url);
  const place = { name: 'jobs', url, folder, migrations, log: silentLog };
  return async (context) => {
    const database = await openDatabase<JobTables>(place);
    context.after(() => database[Symbol.asyncDispose]());
    return openTableJobs(database, options);
  };
}

async function openNats(url: string): Promise<Open> {
  const name = `test.${randomBytes(6).toString('hex')}`;
  return async (context) => {
    const link = new NatsLink({ url, name: 'test', log: silentLog });
    context.after(() => link[Symbol.asyncDispose]());
    return openNatsJobs(link, { ...options, name });
  };
}

function withCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof AppError && error.code === code;
}
