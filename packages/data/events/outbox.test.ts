import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { newId, systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { testFolder, until } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { type Database, openDatabase } from '../db/index.ts';
import { appendEvents, type EventTables, openTableEvents } from './index.ts';

const postgres = await testDatabaseUrl();
const migrations = new URL('./contract/migrations/', import.meta.url);
const folder = testFolder('follow');
const type = 'thing.made.v1';

for (const url of [undefined, ...(postgres.skip ? [] : [postgres.url])]) {
  test(`every process follows all events from now on, in order, on ${url ? 'PostgreSQL' : 'SQLite'}`, async () => {
    await using first = await openStream(url);
    await using other = await openStream(url);
    await append(first, 'before');
    const seen: string[][] = [[], []];
    let failures = 1;
    await using _following = first.events.follow(async (events) => {
      seen[0]?.push(...events.map(({ subject }) => subject));
    });
    await using _failing = other.events.follow(async (events) => {
      if (failures-- > 0) throw new Error('the handler fails once');
      seen[1]?.push(...events.map(({ subject }) => subject));
    });
    // Until both know where now is.
    await delay(200);
    await append(first, 'c1,c2');
    await append(other, 'd');
    while (!seen.every((subjects) => subjects.length >= 3)) await delay(10);
    assert.deepEqual(seen, [
      ['c1', 'c2', 'd'],
      ['c1', 'c2', 'd'],
    ]);
  });
}

describe('transactions that append at the same time on PostgreSQL', { skip: postgres.skip }, () => {
  test('do not wait for each other, and readers wait for numbers that are still to come', async () => {
    await using stream = await openStream(postgres.url);
    const { database, events } = stream;
    const [consumed, followed] = [[] as string[], [] as string[]];
    await using _consuming = events.consume({ name: newId(), types: [type], batchMax: 8 }, async (batch) => {
      consumed.push(...batch.map(({ subject }) => subject));
    });
    await using _following = events.follow(async (batch) => {
      followed.push(...batch.map(({ subject }) => subject));
    });
    // Until it knows where now is.
    await delay(200);
    await append(stream, 'begin');
    await until(() => followed.includes('begin'));
    await using slow = appendSlowly(database, 'slow');
    await slow.appended;
    await using lost = appendSlowly(database, 'lost');
    await lost.appended;
    await append(stream, 'quick');
    // Longer than the interval at which readers look.
    await delay(600);
    assert.equal(followed.at(-1), 'begin');
    await slow.end();
    await until(() => followed.includes('slow'));
    assert.equal(followed.includes('quick'), false);
    await lost.end(new Error('rolled back'));
    await until(() => [consumed, followed].every((subjects) => subjects.includes('quick')));
    assert.deepEqual(followed, ['begin', 'slow', 'quick']);
    assert.deepEqual(consumed.slice(consumed.indexOf('begin')), followed);
  });

  test('are followed if they end after the beginning, whatever their numbers', async () => {
    await using stream = await openStream(postgres.url);
    const { database, events } = stream;
    await using slow = appendSlowly(database, 'under way');
    await slow.appended;
    await append(stream, 'before');
    const seen: string[] = [];
    let failures = 1;
    await using _following = events.follow(async (batch) => {
      if (failures-- > 0) throw new Error('the handler fails once');
      seen.push(...batch.map(({ subject }) => subject));
    });
    await delay(200);
    await slow.end();
    await append(stream, 'after');
    await until(() => seen.includes('after'));
    assert.deepEqual(seen, ['under way', 'after']);
  });
});

/** A transaction that has appended and goes on until its end. */
function appendSlowly(database: Database<EventTables>, text: string) {
  const appended = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const write = database
    .write(async (session) => {
      await appendEvents(session, { type, data: Buffer.from(text), timeMs: Date.now() });
      appended.resolve();
      await ended.promise;
    })
    .catch(() => undefined);
  const end = (error?: Error): Promise<void> => {
    if (error) ended.reject(error);
    else ended.resolve();
    return write;
  };
  return { appended: appended.promise, end, [Symbol.asyncDispose]: () => end() };
}

async function openStream(url: string | undefined) {
  const stack = new AsyncDisposableStack();
  const log = silentLog;
  const database = stack.use(
    await openDatabase<EventTables>({ name: 'follow', url, folder, migrations, log }),
  );
  const events = openTableEvents({
    database,
    log,
    clock: systemClock,
    leaseMs: 500,
    keptMs: 60_000,
    source: '/octavo/test',
    expand: (_type, data) =>
      Buffer.from(data)
        .toString()
        .split(',')
        .map((subject) => ({ subject, data })),
  });
  return { database, events, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function append({ database, events }: Awaited<ReturnType<typeof openStream>>, subjects: string) {
  await database.write((session) =>
    appendEvents(session, { type, data: Buffer.from(subjects), timeMs: Date.now() }),
  );
  events.notify();
}
