import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../base/clock.ts';
import { silentLog } from '../base/log.ts';
import { openDatabase } from '../db/index.ts';
import { testFolder } from '../testing/folder.ts';
import { testDatabaseUrl } from '../testing/postgres.ts';
import { appendEvents, type EventTables, openTableEvents } from './index.ts';

const postgres = await testDatabaseUrl();
const migrations = new URL('./contract/migrations/', import.meta.url);
const folder = testFolder('follow');

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
    appendEvents(session, { type: 'thing.made.v1', data: Buffer.from(subjects), timeMs: Date.now() }),
  );
  events.notify();
}
