import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { createTraceparent, formatTraceparent, systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { testFolder, until } from '@octavo/testing';
import { natsIsMissing, startGate, startTestNats, testDatabaseUrl } from '@octavo/testing/engines';
import { type Database, openDatabase } from '../db/index.ts';
import { NatsLink } from '../nats/link.ts';
import {
  appendEvents,
  type EventStream,
  type EventTables,
  type Expand,
  openNatsEvents,
  openTableEvents,
  type StreamEvent,
} from './index.ts';

interface Tables extends EventTables {
  counter: { only_row: number; value: number };
}

/** A stream and its outbox, as one process has them. */
interface Side {
  readonly database: Database<Tables>;
  readonly events: EventStream;
}

/** Opens the same stream once more, as another process does. */
type Open = (context: TestContext) => Promise<Side>;

const postgres = await testDatabaseUrl();
const noNats = natsIsMissing();
const leaseMs = 1_500;
const type = 'thing.made.v1';
/** Expands a row to its events, which it names separated by commas. */
const expand: Expand = (_type, data) =>
  Buffer.from(data)
    .toString()
    .split(',')
    .map((subject) => ({ subject, data: Buffer.from(`data of ${subject}`) }));

// Most of the time is spent waiting for leases and servers, so the adapters run side by side.
describe('events', { concurrency: true }, () => {
  const inTurn = { concurrency: 1 };
  describe('in tables of SQLite', inTurn, () => tableContract(undefined));
  describe('in NATS, from SQLite', { ...inTurn, skip: noNats }, () => natsContract(undefined));
  // One after the other, because both use the same database.
  describe('from PostgreSQL', { ...inTurn, skip: postgres.skip }, () => {
    describe('in tables', () => tableContract(postgres.url));
    describe('in NATS', { skip: noNats }, () => natsContract(postgres.url));
  });
});

function contract(open: Open): void {
  test('come in order with what they are, and only those of transactions that committed', async (context) => {
    const side = await openPublishing(context, open);
    const seen = consume(context, side);
    const traceparent = formatTraceparent(createTraceparent());
    const timeMs = Date.UTC(2026, 0, 31, 8, 15);
    await append(side, 'a1,a2', { traceparent, timeMs });
    await assert.rejects(
      side.database.write(async (session) => {
        await appendEvents(session, { type, data: Buffer.from('never'), timeMs });
        throw new Error('it was not to be');
      }),
    );
    await append(side, 'b');
    await until(() => seen.length >= 3);
    const [first, second, third] = seen as [StreamEvent, StreamEvent, StreamEvent];
    assert.deepEqual([first.subject, second.subject, third.subject], ['a1', 'a2', 'b']);
    const { id, data, ...rest } = first;
    assert.match(id, /^[0-9a-z]+-\d+-0$/);
    assert.equal(Buffer.from(data).toString(), 'data of a1');
    assert.deepEqual(rest, { source: '/test', type, subject: 'a1', timeMs, traceparent });
    assert.equal(new Set(seen.map((event) => event.id)).size, 3);
    assert.equal(third.traceparent, undefined);
  });

  test('written at the same time come in the order of the commits', async (context) => {
    const [here, there] = [await openPublishing(context, open), await openPublishing(context, open)];
    const seen = consume(context, here, { prefix: 'count ' });
    const writes = Array.from({ length: 50 }, (_, index) => count(index % 2 === 0 ? here : there));
    const counted = (await Promise.all(writes)).sort((a, b) => a - b);
    await until(() => seen.length >= 50);
    assert.deepEqual(
      seen.map(({ subject }) => Number(subject.slice(6))),
      counted,
    );
  });

  test('are kept for a consumer that is down, which goes on where it was', async (context) => {
    const side = await openPublishing(context, open);
    const name = newName();
    const before: StreamEvent[] = [];
    const first = side.events.consume({ name, types: [type], batchMax: 10 }, async (events) => {
      before.push(...events);
    });
    const [x, y, z] = [newName(), newName(), newName()];
    await append(side, x);
    await until(() => before.some(({ subject }) => subject === x));
    await first[Symbol.asyncDispose]();
    await append(side, y);
    await append(side, z);
    const seen = consume(context, side, { name });
    await until(() => seen.length >= 2);
    assert.deepEqual(
      seen.map(({ subject }) => subject),
      [y, z],
    );
  });

  test('come again, in order, while they cannot be seen to', async (context) => {
    const side = await openPublishing(context, open);
    const seen: string[] = [];
    let isBroken = true;
    const consumer = side.events.consume({ name: newName(), types: [type], batchMax: 2 }, async (events) => {
      const subjects = events.map(({ subject }) => subject).filter((subject) => names.includes(subject));
      if (isBroken && subjects.length > 0) {
        isBroken = false;
        throw new Error('not now');
      }
      seen.push(...subjects);
    });
    later(context, consumer);
    const names = Array.from({ length: 9 }, newName);
    for (const name of names) await append(side, name);
    await until(() => seen.length >= names.length);
    assert.deepEqual(seen, names);
  });

  test('go to each consumer, by type, and to one process under a name', async (context) => {
    const [here, there] = [await openPublishing(context, open), await openPublishing(context, open)];
    const name = newName();
    const shared = [consume(context, here, { name }), consume(context, there, { name })];
    const own = consume(context, there);
    const others = consume(context, here, { types: ['other.made.v1'] });
    const names = Array.from({ length: 20 }, newName);
    for (const subject of names) await append(here, subject);
    await append(here, 'other', { type: 'other.made.v1' });
    const mine = (events: StreamEvent[]) =>
      events.map(({ subject }) => subject).filter((subject) => names.includes(subject));
    await until(() => mine(own).length >= 20 && mine(shared.flat()).length >= 20 && others.length >= 1);
    assert.deepEqual(mine(own), names);
    assert.deepEqual(mine(shared.flat()).sort(), names.toSorted());
    assert.deepEqual(
      others.map(({ subject }) => subject),
      ['other'],
    );
  });
}

async function tableContract(databaseUrl: string | undefined): Promise<void> {
  const open = await openTable(databaseUrl);
  contract(open);

  test('go when they are old', async (context) => {
    const { database } = await open(context);
    const keptMs = 3_600_000;
    const old = openTableEvents({ ...optionsOf(database), keptMs, sweepMs: 20 });
    const timeMs = Date.now();
    await append({ database, events: old }, 'old', { timeMs: timeMs - 2 * keptMs });
    await append({ database, events: old }, 'new', { timeMs });
    later(context, old.publish());
    const kept = async () =>
      (await database.kysely.selectFrom('event_outbox').select('time_ms').execute()).map(
        (row) => row.time_ms,
      );
    while ((await kept()).some((time) => time < timeMs - keptMs)) await delay(10);
    assert.ok((await kept()).includes(timeMs));
  });
}

async function natsContract(databaseUrl: string | undefined): Promise<void> {
  const server = await startTestNats();
  const name = `test.${randomBytes(4).toString('hex')}`;
  const openSide = await openNats(databaseUrl, server.url, name);
  contract(openSide);

  test('have the headers of CloudEvents', async (context) => {
    const side = await openPublishing(context, openSide);
    const connection = await connect({ servers: server.url });
    context.after(() => connection.close());
    const messages = connection.subscribe(`${name}.*`, { max: 1 });
    await connection.flush();
    await append(side, 'Grüße "an" 100%', { timeMs: Date.UTC(2026, 0, 31, 8, 15) });
    for await (const { subject, headers, data } of messages) {
      assert.equal(subject, `${name}.thing-made-v1`);
      assert.equal(Buffer.from(data).toString(), 'data of Grüße "an" 100%');
      const header = (attribute: string) => headers?.get(`ce-${attribute}`);
      assert.equal(header('specversion'), '1.0');
      assert.equal(header('type'), type);
      assert.equal(header('source'), '/test');
      assert.equal(header('subject'), 'Gr%C3%BC%C3%9Fe%20%22an%22%20100%25');
      assert.equal(header('time'), '2026-01-31T08:15:00.000Z');
      assert.equal(header('datacontenttype'), 'application/protobuf');
      assert.match(header('id') ?? '', /^[0-9a-z]+-\d+-0$/);
    }
  });

  test('wait in the outbox while the server is down, and then come once and in order', async (context) => {
    const side = await openPublishing(context, openSide);
    const names = Array.from({ length: 200 }, newName);
    const seen = consume(context, side);
    for (const subject of names.slice(0, 100)) await append(side, subject);
    await server.kill();
    await assert.rejects(side.events.ping());
    for (const subject of names.slice(100)) await append(side, subject);
    await server.revive();
    const mine = () => seen.map(({ subject }) => subject).filter((subject) => names.includes(subject));
    await until(() => new Set(mine()).size >= names.length);
    assert.deepEqual([...new Set(mine())], names);
    await side.events.ping();
  });

  test('come again, in order, after the server lost them', async (context) => {
    const side = await openPublishing(context, openSide);
    const names = Array.from({ length: 150 }, newName);
    const seen = consume(context, side);
    for (const subject of names.slice(0, 100)) await append(side, subject);
    await until(() => seen.some(({ subject }) => subject === names[99]));
    await server.replace();
    const late = consume(context, side);
    for (const subject of names.slice(100)) await append(side, subject);
    const mine = (events: StreamEvent[]) =>
      events.map(({ subject }) => subject).filter((subject) => names.includes(subject));
    await until(() => mine(late).length >= names.length && mine(seen).includes(names[149] ?? ''));
    assert.deepEqual(mine(late), names);
    assert.deepEqual([...new Set(mine(seen))], names);
    await side.events.ping();
  });

  test('come soon after a reconnect whose first request is cut off', async (context) => {
    const gate = await startGate(new URL(server.url).host);
    const side = await openPublishing(context, await openNats(databaseUrl, `nats://${gate.address}`, name));
    const seen = consume(context, side);
    await append(side, 'before');
    await until(() => seen.some(({ subject }) => subject === 'before'));
    gate.cut();
    gate.cutResponseTo('CONSUMER.INFO');
    gate.open();
    const startedMs = performance.now();
    await append(side, 'after');
    await until(() => seen.some(({ subject }) => subject === 'after'));
    const ms = performance.now() - startedMs;
    // A pull is renewed after five seconds; the rest is for a busy machine.
    assert.ok(ms < 14_000, `after ${ms} ms`);
  });

  test('are reported as failing while their stream is missing, and go on once it is there again', async (context) => {
    const side = await openPublishing(context, openSide);
    const connection = await connect({ servers: server.url });
    context.after(() => connection.close());
    const { streams, consumers } = await jetstreamManager(connection);
    const stream = name.toUpperCase().replaceAll('.', '_');
    await side.events.ping();
    await streams.delete(stream);
    await assert.rejects(side.events.ping(), { code: 'unavailable' });
    await until(() => side.events.ping().then(isTrue, isFalse));
    const consumer = newName();
    const seen = consume(context, side, { name: consumer });
    await append(side, 'one');
    await until(() => seen.some(({ subject }) => subject === 'one'));
    await streams.delete(stream);
    await append(side, 'two');
    await until(() => seen.some(({ subject }) => subject === 'two'));
    await consumers.delete(stream, consumer);
    await append(side, 'three');
    await until(() => seen.some(({ subject }) => subject === 'three'));
    await until(() => side.events.ping().then(isTrue, isFalse));
  });
}

const isTrue = () => true;
const isFalse = () => false;

const stacks = new WeakMap<TestContext, AsyncDisposableStack>();

/** Ends things after a test, the latest first. */
function later(context: TestContext, thing: AsyncDisposable): void {
  let stack = stacks.get(context);
  if (!stack) {
    const created = new AsyncDisposableStack();
    stack = created;
    stacks.set(context, created);
    context.after(() => created.disposeAsync());
  }
  stack.use(thing);
}

async function openPublishing(context: TestContext, open: Open): Promise<Side> {
  const side = await open(context);
  const publishing = side.events.publish();
  later(context, publishing);
  return side;
}

/** The events that a consumer gets, of subjects that begin alike. */
function consume(
  context: TestContext,
  { events }: Side,
  {
    name = newName(),
    types = [type],
    prefix = '',
  }: { name?: string; types?: string[]; prefix?: string } = {},
): StreamEvent[] {
  const seen: StreamEvent[] = [];
  const consumer = events.consume({ name, types, batchMax: 50 }, async (batch) => {
    seen.push(...batch.filter(({ subject }) => subject.startsWith(prefix)));
  });
  later(context, consumer);
  return seen;
}

async function append(
  { database, events }: Side,
  text: string,
  changes: { type?: string; timeMs?: number; traceparent?: string } = {},
): Promise<void> {
  const batch = { type, data: Buffer.from(text), timeMs: Date.now(), ...changes };
  await database.write((session) => appendEvents(session, batch));
  events.notify();
}

/** A transaction that counts, and says the number that it got. */
function count({ database, events }: Side): Promise<number> {
  return database
    .write(async (session) => {
      const { value } = await session.kysely
        .updateTable('counter')
        .set((e) => ({ value: e('value', '+', 1) }))
        .returning('value')
        .executeTakeFirstOrThrow();
      await appendEvents(session, { type, data: Buffer.from(`count ${value}`), timeMs: Date.now() });
      return value;
    })
    .finally(() => events.notify());
}

let names = 0;
function newName(): string {
  return `n${++names}-${randomBytes(3).toString('hex')}`;
}

async function openDatabases(
  url: string | undefined,
): Promise<(context: TestContext) => Promise<Database<Tables>>> {
  const folder = testFolder('events');
  const migrations = new URL('./contract/migrations/', import.meta.url);
  const name = `e_${randomBytes(4).toString('hex')}`;
  return async (context) => {
    const database = await openDatabase<Tables>({ name, url, folder, migrations, log: silentLog });
    later(context, database);
    return database;
  };
}

function optionsOf(database: Database<Tables>) {
  const keptMs = 3_600_000;
  return { database, clock: systemClock, leaseMs, keptMs, source: '/test', expand, log: silentLog };
}

async function openTable(url: string | undefined): Promise<Open> {
  const open = await openDatabases(url);
  return async (context) => {
    const database = await open(context);
    return { database, events: openTableEvents(optionsOf(database)) };
  };
}

async function openNats(databaseUrl: string | undefined, url: string, name: string): Promise<Open> {
  const open = await openDatabases(databaseUrl);
  return async (context) => {
    const database = await open(context);
    const link = new NatsLink({ url, name: 'test', log: silentLog });
    later(context, link);
    return { database, events: await openNatsEvents(link, { ...optionsOf(database), name }) };
  };
}
