import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { silentLog } from '@octavo/core/log';
import { type Gate, startGate, testDatabaseUrl } from '@octavo/testing/engines';
import { sql } from 'kysely';
import pg from 'pg';
import {
  allNotes,
  idsOf,
  insertNote,
  note,
  noteById,
  notesIn,
  openWithNotes,
  Place,
  Steps,
  type Tables,
} from '../contract/fixture.ts';
import { statement } from '../index.ts';
import { processName } from './connections.ts';
import { PostgresPool } from './pool.ts';
import { requestTimeouts } from './timeouts.ts';

const { url, skip } = await testDatabaseUrl();
const unavailable = { name: 'AppError', code: 'unavailable', retryAfterSeconds: 1 };

test('a write that may be lost does not wait for the disk, and the next one does again', {
  skip,
}, async () => {
  await using place = new Place(url);
  const database = await place.open();
  const seen: unknown[] = [];
  for (const mayBeLost of [true, false]) {
    await database.write(
      async (session) => {
        const { rows } = await sql<{ synchronous_commit: string }>`show synchronous_commit`.execute(
          session.kysely,
        );
        seen.push(rows[0]?.synchronous_commit);
      },
      { mayBeLost },
    );
  }
  assert.deepEqual(seen, ['off', 'on']);
});

test('a migration that waits in a circle with a request is repeated', { skip }, async () => {
  await using place = new Place(url);
  const steps = new Steps();
  steps.write('0001_first.sql', 'CREATE TABLE a (id bigint); CREATE TABLE b (id bigint);');
  await place.open({ migrations: steps.folder });
  steps.write('0002_more.sql', 'ALTER TABLE a ADD COLUMN x bigint; ALTER TABLE b ADD COLUMN x bigint;');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  // The circle is found by the migration, which is undone.
  await client.query(
    `BEGIN; SET LOCAL deadlock_timeout = '1min'; SET LOCAL search_path TO ${place.options.name}`,
  );
  await client.query('INSERT INTO b VALUES (1)');
  const opening = place.open({ migrations: steps.folder });
  await delay(400);
  await client.query('INSERT INTO a VALUES (1)');
  await client.query('COMMIT');
  await client.end();
  const database = await opening;
  assert.deepEqual((await sql`select x from a`.execute(database.kysely)).rows, [{ x: null }]);
});

test('a lost connection is unavailable, and the next request has a new one', { skip }, async () => {
  await using place = new Place(url);
  const database = await openWithNotes(place, 3);
  const lost = database.write(async (session) => {
    await insertNote.run(session, note(4));
    await terminate(place, 'idle in transaction');
    await insertNote.run(session, note(5));
  });
  await assert.rejects(lost, unavailable);
  assert.deepEqual(await idsOf(database), [1, 2, 3]);
  const asleep = sql`select pg_sleep(60)`;
  const interrupted = assert.rejects(Array.fromAsync(database.stream(asleep, { batchRows: 1 })), unavailable);
  while ((await terminate(place, 'active')) === 0);
  await interrupted;
  await database.ping();
  assert.equal((await Array.fromAsync(database.stream(notesIn(database), { batchRows: 10 }))).length, 1);
});

test('a change whose commit was not confirmed is unknown, and one before it is undone', {
  skip,
}, async () => {
  const { gate, gatedUrl } = await gated();
  await using place = new Place(gatedUrl);
  const database = await openWithNotes(place, 1);
  const unknown = { name: 'AppError', code: 'timeout', retryAfterSeconds: undefined };
  gate.cutResponseTo('COMMIT');
  await assert.rejects(
    database.write((session) => insertNote.run(session, note(2))),
    unknown,
  );
  gate.cutResponseTo('COMMIT');
  await assert.rejects(insertNote.run(database, note(3)), unknown);
  gate.cutResponseTo('note-4');
  await assert.rejects(insertNote.run(database, note(4)), unavailable);
  gate.cutResponseTo('COMMIT');
  await assert.rejects(
    database.read((session) => allNotes.all(session, {})),
    unavailable,
  );
  assert.deepEqual(await idsOf(database), [1, 2, 3]);
});

test('a stream that gets no connection is unavailable', { skip }, async () => {
  const { gate, gatedUrl } = await gated();
  await using place = new Place(gatedUrl);
  const database = await place.open();
  gate.cut();
  await assert.rejects(Array.fromAsync(database.stream(notesIn(database), { batchRows: 5 })), unavailable);
});

test('a stream that loses its connection between two batches is unavailable', { skip }, async () => {
  await using place = new Place(url);
  const database = await openWithNotes(place, 25);
  const stream = database.stream(notesIn(database), { batchRows: 5 })[Symbol.asyncIterator]();
  await stream.next();
  while ((await terminate(place, 'idle in transaction')) === 0);
  await assert.rejects(Array.fromAsync({ [Symbol.asyncIterator]: () => stream }), unavailable);
  await database.ping();
});

test('a server that is not there is unavailable from the start', async () => {
  const port = await closedPort();
  await using place = new Place(`postgres://postgres@127.0.0.1:${port}/test`);
  await assert.rejects(place.open(), unavailable);
});

test('a column that another process adds does not break prepared statements', { skip }, async () => {
  await using place = new Place(url);
  const database = await openWithNotes(place, 1);
  const other = await place.open();
  assert.deepEqual(await noteById.first(database, { id: 1 }), note(1));
  await sql`alter table ${sql.table(`${place.options.name}.note`)} add column color text`.execute(
    other.kysely,
  );
  assert.deepEqual(await noteById.first(database, { id: 1 }), { ...note(1), color: null });
  await database.read(async (session) => {
    assert.deepEqual(await noteById.first(session, { id: 1 }), { ...note(1), color: null });
  });
});

test('a lock of one process keeps another out until the commit', { skip }, async () => {
  await using place = new Place(url);
  const [one, two] = [await place.open(), await place.open()];
  const order: string[] = [];
  const locked = Promise.withResolvers<void>();
  const first = one.write(async (session) => {
    await session.lock('notes');
    locked.resolve();
    await insertNote.run(session, note(1));
    order.push('first');
  });
  await locked.promise;
  const second = two.write(async (session) => {
    await session.lock('notes');
    order.push('second');
    assert.equal((await allNotes.all(session, {})).length, 1);
  });
  await Promise.all([first, second]);
  assert.deepEqual(order, ['first', 'second']);
});

test('the server ends what a request, a stream or a migration must not hold', { skip }, async () => {
  await using place = new Place(url);
  const steps = new Steps();
  const settings = `current_setting('statement_timeout') || ' ' || current_setting('lock_timeout') || ' ' ||
    current_setting('idle_in_transaction_session_timeout') as timeouts`;
  steps.write('0001_timeouts.sql', `create table migrated as select ${settings}`);
  const database = await place.open({ migrations: steps.folder });
  const current = statement<Tables>()(() => sql<{ timeouts: string }>`select ${sql.raw(settings)}`);
  const request = { timeouts: '1min 15s 10s' };
  assert.deepEqual(await current.all(database, {}), [request]);
  assert.deepEqual(await database.read((session) => current.all(session, {})), [request]);
  assert.deepEqual(await database.write((session) => current.all(session, {})), [request]);
  const streamed = await Array.fromAsync(
    database.stream(sql<{ timeouts: string }>`select ${sql.raw(settings)}`, { batchRows: 1 }),
  );
  assert.deepEqual(streamed, [[{ timeouts: '10min 15s 2min' }]]);
  const { rows } = await sql`select timeouts from migrated`.execute(database.kysely);
  assert.deepEqual(rows, [{ timeouts: '0 2min 1min' }]);
});

test('a write that stands still in its transaction loses it, and what it locked goes to the next', {
  skip,
}, async () => {
  await using place = new Place(url);
  const [frozen, other] = [await openWithNotes(place, 1), await place.open()];
  const locked = Promise.withResolvers<void>();
  const thaw = Promise.withResolvers<void>();
  const lost = frozen.write(async (session) => {
    await sql`set local idle_in_transaction_session_timeout = 200`.execute(session.kysely);
    await sql`update note set body = 'frozen'`.execute(session.kysely);
    locked.resolve();
    await thaw.promise;
    await insertNote.run(session, note(2));
  });
  await locked.promise;
  await sql`update note set body = 'changed'`.execute(other.kysely);
  thaw.resolve();
  await assert.rejects(lost, unavailable);
  assert.deepEqual(await allNotes.all(frozen, {}), [note(1, { body: 'changed' })]);
});

test('a lock and a statement that take too long are unavailable', { skip }, async () => {
  await using place = new Place(url);
  const database = await openWithNotes(place, 1);
  const locked = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const holder = database.write(async (session) => {
    await session.lock('notes');
    locked.resolve();
    await done.promise;
  });
  await locked.promise;
  const waiting = database.write(async (session) => {
    await sql`set local lock_timeout = 50`.execute(session.kysely);
    await session.lock('notes');
  });
  await assert.rejects(waiting, unavailable);
  done.resolve();
  await holder;
  const slow = database.write(async (session) => {
    await sql`set local statement_timeout = 50`.execute(session.kysely);
    await sql`select pg_sleep(10)`.execute(session.kysely);
  });
  await assert.rejects(slow, unavailable);
});

/** Ends the connections in a state, as a restart of the server would, and tells how many there were. */
async function terminate(place: Place, state: string): Promise<number> {
  const client = new pg.Client({ connectionString: place.options.url });
  await client.connect();
  const { rowCount } = await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND state = $2 AND datname = current_database()',
    [processName, state],
  );
  await client.end();
  return rowCount ?? 0;
}

function closedPort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address() as { port: number };
    server.close(() => resolve(port));
  });
  return promise;
}

test('a server that freezes holds neither requests nor the end of the process', { skip }, async () => {
  const { gate, gatedUrl } = await gated();
  const open = (statementMs: number) =>
    new PostgresPool({
      url: gatedUrl,
      max: 1,
      log: silentLog,
      closeMs: 50,
      timeouts: { ...requestTimeouts, statementMs },
    });
  const [requests, closing] = [open(100), open(60_000)];
  const ask = (client: pg.PoolClient) => client.query('SELECT 1');
  await Promise.all([requests.use(ask), closing.use(ask)]);
  gate.freeze();
  await assert.rejects(requests.use(ask), { name: 'ConnectionLost' });
  const unanswered = assert.rejects(closing.use(ask), { name: 'ConnectionLost' });
  await closing[Symbol.asyncDispose]();
  await unanswered;
  gate.thaw();
  await requests.use(ask);
  await requests[Symbol.asyncDispose]();
});

function openPool(gatedUrl: string, max: number): PostgresPool {
  const options = { url: gatedUrl, max, log: silentLog, closeMs: 50 };
  return new PostgresPool({ ...options, timeouts: requestTimeouts });
}

test('a frozen server is told from a slow one within seconds', { skip, timeout: 30_000 }, async () => {
  const { gate, gatedUrl } = await gated();
  await using pool = openPool(gatedUrl, 8);
  const ask = (client: pg.PoolClient) => client.query('SELECT 1');
  await Promise.all(Array.from({ length: 4 }, () => pool.use(ask)));
  const slow = pool.use((client) => client.query('SELECT 1 AS one FROM pg_sleep(7)'));
  assert.deepEqual((await slow).rows, [{ one: 1 }]);
  gate.freeze();
  const outcomes = await Promise.allSettled(Array.from({ length: 12 }, () => pool.use(ask)));
  for (const outcome of outcomes) {
    assert.equal(outcome.status === 'rejected' && outcome.reason.name, 'ConnectionLost');
  }
  gate.thaw();
  await pool.use(ask);
});

test('a statement sent shortly before the server is asked does not wait for a second look', {
  skip,
  timeout: 30_000,
}, async () => {
  const { gate, gatedUrl } = await gated();
  await using pool = openPool(gatedUrl, 2);
  const ask = (client: pg.PoolClient) => client.query('SELECT 1');
  await Promise.all([pool.use(ask), pool.use(ask)]);
  gate.freeze();
  const first = assert.rejects(pool.use(ask), { name: 'ConnectionLost' });
  await delay(500);
  const second = assert.rejects(pool.use(ask), { name: 'ConnectionLost' });
  await first;
  // Another look would take as long as the first.
  const looked = delay(3_000, 'looked again');
  assert.equal(await Promise.race([second, looked]), undefined);
});

test('one frozen process of a server is told from the others, and from one that computes', {
  skip,
  timeout: 30_000,
}, async (context) => {
  const options = { url: url as string, max: 2, log: silentLog, closeMs: 50 };
  await using pool = new PostgresPool({ ...options, timeouts: requestTimeouts });
  const [frozen, slow] = [await pool.lease(), await pool.lease()];
  const { rows } = await frozen.client.query('SELECT pg_backend_pid() AS pid');
  const { pid } = rows[0] as { pid: number };
  try {
    process.kill(pid, 'SIGSTOP');
  } catch {
    for (const lease of [frozen, slow]) lease.release();
    return context.skip('the server is another machine, or of another user');
  }
  try {
    const computing = slow.client.query('SELECT pg_sleep(7)');
    await assert.rejects(frozen.client.query('SELECT 1'));
    await computing;
  } finally {
    process.kill(pid, 'SIGCONT');
    for (const lease of [frozen, slow]) lease.release();
  }
});

test('a write that a frozen server did not answer is not carried out later', { skip }, async () => {
  const { gate, gatedUrl } = await gated();
  await using place = new Place(url);
  await openWithNotes(place, 1);
  const frozen = await place.open({ url: gatedUrl });
  gate.freeze();
  await assert.rejects(insertNote.run(frozen, note(2)), unavailable);
  gate.thaw();
  await insertNote.run(frozen, note(3));
  assert.deepEqual(await allNotes.all(frozen, {}), [note(1), note(3)]);
});

/** The server behind a gate. */
async function gated(): Promise<{ gate: Gate; gatedUrl: string }> {
  const target = new URL(url as string);
  const gate = await startGate(`${target.hostname}:${target.port || 5432}`);
  target.host = gate.address;
  return { gate, gatedUrl: target.href };
}
