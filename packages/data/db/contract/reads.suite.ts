import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../index.ts';
import {
  countNotes,
  idsOf,
  insertNote,
  note,
  noteById,
  notesIn,
  openWithNotes,
  Place,
  type Server,
  type Tables,
} from './fixture.ts';

/** Computes for a few hundred milliseconds before its only row. */
const slowCount = (last: number) =>
  sql<{ count: number }>`${numbersTo(last)} select count(*) as count from number`;
const numbers = (last: number) => sql<{ n: number }>`${numbersTo(last)} select n from number`;
const numbersTo = (last: number) =>
  sql`with recursive number (n) as (select 1 union all select n + 1 from number where n < ${last})`;
const slow = { last: 1_000_000 };

/** Reads see one moment, delay no other request and end on demand. */
export function readContract(server: Server): void {
  test('a read sees one snapshot while others write, and cannot write', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 2);
    const counts = await database.read(async (session) => {
      const before = await countNotes.first(session, {});
      await insertNote.run(database, note(3));
      return [before?.count, (await countNotes.first(session, {}))?.count];
    });
    assert.deepEqual(counts, [2, 2]);
    assert.equal((await countNotes.first(database, {}))?.count, 3);
    await assert.rejects(database.read((session) => insertNote.run(session, note(4))));
    assert.equal((await countNotes.first(database, {}))?.count, 3);
  });

  test('a commit is visible to every read after it, through the same database or another on the same data', async () => {
    await using place = new Place(server);
    const one = await openWithNotes(place, 0);
    const two = await place.open();
    for (let id = 1; id <= 20; id++) {
      const before = await Promise.all([countNotes.first(one, {}), countNotes.first(two, {})]);
      assert.deepEqual(before, [{ count: id - 1 }, { count: id - 1 }]);
      await insertNote.run(id % 2 === 0 ? one : two, note(id));
      // The other process asks in a later turn: an answer has to travel.
      assert.equal((await countNotes.first(id % 2 === 0 ? one : two, {}))?.count, id);
      await nextTurn();
      assert.equal((await countNotes.first(id % 2 === 0 ? two : one, {}))?.count, id);
    }
  });

  test('reads at the same time do not mix', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 0);
    const reads = [1, 2, 3, 4, 5, 6].map((id) =>
      database.read(async (session) => {
        const before = await countNotes.first(session, {});
        await insertNote.run(database, note(id));
        return [before, await countNotes.first(session, {})];
      }),
    );
    for (const [before, later] of await Promise.all(reads)) assert.deepEqual(before, later);
    assert.deepEqual(await idsOf(database), [1, 2, 3, 4, 5, 6]);
  });

  test('a stream gives every row in batches', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 25);
    const batches = await Array.fromAsync(database.stream(notesIn(database), { batchRows: 10 }));
    assert.deepEqual(
      batches.map((batch) => batch.length),
      [10, 10, 5],
    );
    assert.deepEqual(
      batches.flat(),
      Array.from({ length: 25 }, (_, index) => note(index + 1)),
    );
    assert.deepEqual(
      await Array.fromAsync(database.stream(notesIn(database).where('id', '=', 99), { batchRows: 10 })),
      [],
    );
  });

  test('a stream sees one snapshot while others write', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 25);
    const ids: number[] = [];
    for await (const batch of database.stream(notesIn(database), { batchRows: 5 })) {
      ids.push(...batch.map(({ id }) => id));
      await insertNote.run(database, note(100 + ids.length));
      await database.kysely.deleteFrom('note').where('id', '=', 25).execute();
    }
    assert.equal(ids.length, 25);
    assert.equal((await countNotes.first(database, {}))?.count, 29);
  });

  test('a stream ends when its consumer stops or its signal aborts, and its connection serves the next', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 25);
    for (let round = 1; round <= 10; round++) {
      for await (const [first] of database.stream(notesIn(database), { batchRows: 5 })) {
        assert.equal(first?.id, 1);
        break;
      }
      const stop = new AbortController();
      const stream = database
        .stream(notesIn(database), { batchRows: 5, signal: stop.signal })
        [Symbol.asyncIterator]();
      await stream.next();
      stop.abort(new Error('the client is gone'));
      await assert.rejects(stream.next(), /the client is gone/);
    }
    assert.equal((await Array.fromAsync(database.stream(notesIn(database), { batchRows: 50 }))).length, 1);
  });

  test('a stream that is not read to its end does not block writers', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 25);
    const stream = database.stream(notesIn(database), { batchRows: 5 })[Symbol.asyncIterator]();
    await stream.next();
    await insertNote.run(database, note(26));
    await stream.return?.();
    assert.equal((await countNotes.first(database, {}))?.count, 26);
  });

  for (const [state, ms] of [
    ['is being read', 0],
    ['has been read', 100],
  ] as const) {
    test(`disposing the database ends a stream whose next batch ${state}`, async () => {
      await using place = new Place(server);
      const database = await openWithNotes(place, 25);
      const stream = database.stream(notesIn(database), { batchRows: 5 })[Symbol.asyncIterator]();
      await stream.next();
      await delay(ms);
      await database[Symbol.asyncDispose]();
      await assert.rejects(Array.fromAsync({ [Symbol.asyncIterator]: () => stream }));
    });
  }

  test('a slow stream delays no other request', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 1);
    const heavy = Array.fromAsync(database.stream(slowCount(slow.last), { batchRows: 10 }));
    const answered = await answeredDuring(heavy, database);
    assert.deepEqual(await heavy, [[{ count: slow.last }]]);
    assert.ok(answered > 5, `${answered} other requests were answered meanwhile`);
  });

  test('a long stream gives way to other requests', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 1);
    let rows = 0;
    const streaming = (async () => {
      for await (const batch of database.stream(numbers(300_000), { batchRows: 500 })) rows += batch.length;
    })();
    const answered = await answeredDuring(streaming, database);
    assert.equal(rows, 300_000);
    assert.ok(answered > 10, `${answered} other requests were answered meanwhile`);
  });

  test('streams that compute are given up when their signals abort', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 1);
    const reads = [1, 2, 3, 4, 5].map(() => {
      const signal = AbortSignal.timeout(50);
      return Array.fromAsync(database.stream(slowCount(30_000_000), { batchRows: 10, signal }));
    });
    for (const result of await Promise.allSettled(reads)) {
      assert.equal(result.status, 'rejected');
      assert.equal((result.reason as Error).name, 'TimeoutError');
    }
  });

  test('errors of a stream reach its consumer', async () => {
    await using place = new Place(server);
    const database = await place.open();
    const broken = sql`select 1 from nowhere`;
    await assert.rejects(Array.fromAsync(database.stream(broken, { batchRows: 5 })), /nowhere/);
    await database.ping();
  });
}

/** Asks for a row again and again until `heavy` is done, and counts the answers before that. */
async function answeredDuring(heavy: Promise<unknown>, database: Database<Tables>): Promise<number> {
  let answered = 0;
  let done = false;
  heavy.finally(() => {
    done = true;
  });
  while (!done) {
    await noteById.first(database, { id: 1 });
    await delay(1);
    answered += 1;
  }
  return answered;
}
