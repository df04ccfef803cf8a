import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { silentLog } from '../../log.ts';
import { testDatabaseUrl } from '../../testing/postgres.ts';
import {
  allNotes,
  idsOf,
  insertNote,
  note,
  noteById,
  openWithNotes,
  Place,
  Steps,
  type Tables,
} from '../contract/fixture.ts';
import { statement } from '../index.ts';
import { PostgresPool, requestTimeouts } from './pool.ts';

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
  const asleep = statement<Tables>()(() => sql`select pg_sleep(60)`);
  const interrupted = assert.rejects(
    Array.fromAsync(database.stream(asleep, {}, { batchRows: 1 })),
    unavailable,
  );
  while ((await terminate(place, 'active')) === 0);
  await interrupted;
  await database.ping();
  assert.equal((await Array.fromAsync(database.stream(allNotes, {}, { batchRows: 10 }))).length, 1);
});

test('a stream that loses its connection between two batches is unavailable', { skip }, async () => {
  await using place = new Place(url);
  const database = await openWithNotes(place, 25);
  const stream = database.stream(allNotes, {}, { batchRows: 5 })[Symbol.asyncIterator]();
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
  await sql`alter table note add column color text`.execute(other.kysely);
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
  const streamed = await Array.fromAsync(database.stream(current, {}, { batchRows: 1 }));
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
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1 AND state = $2',
    [place.options.name, state],
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
  const target = new URL(url as string);
  const sockets = new Set<Socket>();
  let isFrozen = false;
  const proxy = createServer((client) => {
    const server = connect(Number(target.port || 5432), target.hostname);
    for (const [from, to] of [[client, server] as const, [server, client] as const]) {
      sockets.add(from);
      from.on('data', (bytes) => !isFrozen && to.write(bytes));
      from.on('error', () => {}).on('close', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  const through = new URL(target);
  through.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const open = (statementMs: number) =>
    new PostgresPool({
      ...{ url: through.href, schema: 'public', max: 1, log: silentLog, closeMs: 50 },
      timeouts: { ...requestTimeouts, statementMs },
    });
  const [requests, closing] = [open(100), open(60_000)];
  const ask = (client: pg.PoolClient) => client.query('SELECT 1');
  await Promise.all([requests.use(ask), closing.use(ask)]);
  isFrozen = true;
  await assert.rejects(requests.use(ask), { name: 'ConnectionLost' });
  const unanswered = assert.rejects(closing.use(ask), { name: 'ConnectionLost' });
  await closing[Symbol.asyncDispose]();
  await unanswered;
  isFrozen = false;
  await requests.use(ask);
  await requests[Symbol.asyncDispose]();
});
