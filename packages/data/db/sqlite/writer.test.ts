import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { AppError } from '@octavo/core';
import { eventually } from '@octavo/testing';
import { sql } from 'kysely';
import {
  idsOf,
  insertNote,
  note,
  noteById,
  notesIn,
  openWithNotes,
  Place,
  type Tables,
} from '../contract/fixture.ts';
import type { Database } from '../index.ts';

test('a trigger that rolls back the whole transaction fails one write, and its neighbors are kept', async () => {
  await using place = new Place(undefined);
  const database = await place.open();
  const trigger = sql`create trigger note_refuse before insert on note when new.slug = 'note-3'
    begin select raise(rollback, 'not this one'); end`;
  await trigger.execute(database.kysely);
  const ids = [1, 2, 3, 4, 5];
  const results = await Promise.allSettled(
    ids.map((id) => database.write((session) => insertNote.run(session, note(id)))),
  );
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
  assert.deepEqual(await idsOf(database), [1, 2, 4, 5]);
});

test('work that goes on after the transaction was rolled back under it commits nothing', async () => {
  await using place = new Place(undefined);
  const database = await place.open();
  await sql`create trigger note_refuse before insert on note when new.id = 2
    begin select raise(rollback, 'not this one'); end`.execute(database.kysely);
  const swallowing = database.write(async (session) => {
    await insertNote.run(session, note(1));
    await insertNote.run(session, note(2)).catch(() => {});
    await insertNote.run(session, note(3)).catch(() => {});
  });
  await assert.rejects(swallowing, /not this one/);
  assert.deepEqual(await idsOf(database), []);
});

test('work that ends its transaction itself fails, and its neighbors are kept', async () => {
  await using place = new Place(undefined);
  const database = await place.open();
  const results = await Promise.allSettled([
    database.write((session) => insertNote.run(session, note(1))),
    database.write((session) => sql`rollback`.execute(session.kysely)),
    database.write((session) => insertNote.run(session, note(2))),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(await idsOf(database), [1, 2]);
});

test('a full disk fails the writes that do not fit as unavailable, and keeps the others', async () => {
  await using place = new Place(undefined);
  const database = await place.open();
  const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(database.kysely);
  const pagesMax = Number(rows[0]?.page_count) + 20;
  await database.write((session) =>
    sql`pragma max_page_count = ${sql.lit(pagesMax)}`.execute(session.kysely),
  );
  const sizes = [10, 200_000, 10, 200_000, 10];
  const results = await Promise.allSettled(
    sizes.map((size, id) =>
      database.write((session) => insertNote.run(session, note(id, { body: 'x'.repeat(size) }))),
    ),
  );
  assert.deepEqual(
    results.map((result) => (result.status === 'fulfilled' ? 'kept' : (result.reason as AppError).code)),
    ['kept', 'unavailable', 'kept', 'unavailable', 'kept'],
  );
  assert.deepEqual(await idsOf(database), [0, 2, 4]);
});

test('a foreign key that is only checked at the commit fails the write at fault', async () => {
  await using place = new Place(undefined);
  const database = await place.open();
  const results = await Promise.allSettled(
    [1, 9, 2].map((author, index) =>
      database.write(async (session) => {
        await sql`pragma defer_foreign_keys = on`.execute(session.kysely);
        await insertNote.run(session, note(index, { author_id: author }));
      }),
    ),
  );
  assert.deepEqual(
    results.map((result) => (result.status === 'fulfilled' ? 'kept' : (result.reason as AppError).code)),
    ['kept', 'conflict', 'kept'],
  );
  assert.deepEqual(await idsOf(database), [0, 2]);
});

test('while another process holds the file a write waits, and reads go on', async () => {
  await using place = new Place(undefined);
  const database = await place.open();
  using other = new DatabaseSync(fileOf(place));
  other.exec('BEGIN IMMEDIATE');
  const write = insertNote.run(database, note(1));
  for (let read = 0; read < 30; read++) {
    assert.equal(await noteById.first(database, { id: 1 }), undefined);
    await delay(5);
  }
  other.exec('COMMIT');
  assert.deepEqual(await write, { changes: 1 });
});

test('a write that may be lost does not wait for the disk, unless it shares its commit with one that does', async () => {
  await using place = new Place(undefined);
  const database = await place.open();
  // A busy machine may end a transaction before all of its writes are there: then they are tried again.
  await eventually(async () => {
    const seen: string[] = [];
    const write = (name: string, mayBeLost: boolean, end?: Promise<void>) =>
      database.write(
        async (session) => {
          const { rows } = await sql<{ synchronous: number }>`pragma synchronous`.execute(session.kysely);
          seen.push(`${name} ${rows[0]?.synchronous === 1 ? 'leaves' : 'waits'}`);
          await end;
        },
        { mayBeLost },
      );
    await write('alone', true);
    await Promise.all([write('before', true), write('with', false), write('after', true)]);
    const late = Promise.withResolvers<void>();
    const first = write('first', true, late.promise);
    while (!seen.includes('first leaves')) await delay(1);
    const others = [write('second', true), write('third', false), write('fourth', true)];
    late.resolve();
    await Promise.all([first, ...others]);
    assert.deepEqual(seen, [
      'alone leaves',
      'before waits',
      'with waits',
      'after waits',
      'first leaves',
      'second leaves',
      'third waits',
      'fourth waits',
    ]);
  });
});

test('the write-ahead log starts over under sustained load, though there is always a reader', async () => {
  await using place = new Place(undefined);
  const database = await place.open();
  const body = 'x'.repeat(1_000_000);
  let done = false;
  const readers = [0, 10].map(async (offsetMs) => {
    await delay(offsetMs);
    while (!done) {
      await database.read(async (session) => {
        await noteById.first(session, { id: 1 });
        await delay(20);
      });
    }
  });
  let largest = 0;
  for (let id = 1; id <= 250; id++) {
    await insertNote.run(database, note(id, { body }));
    largest = Math.max(largest, statSync(`${fileOf(place)}-wal`).size);
  }
  done = true;
  await Promise.all(readers);
  assert.ok(largest < 130_000_000, `the log grew to ${largest} bytes`);
});

test('a stream without a reader gives its snapshot back', async (context) => {
  await using place = new Place(undefined);
  const database = await openWithNotes(place, 25);
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const stream = database.stream(notesIn(database), { batchRows: 5 })[Symbol.asyncIterator]();
  await stream.next();
  await stream.next();
  context.mock.timers.tick(120_000);
  await assert.rejects(stream.next(), { code: 'unavailable' });
});

test('the file is its owner’s alone, in WAL mode, synced with every commit', async () => {
  await using place = new Place(undefined);
  const database = await place.open();
  await insertNote.run(database, note(1));
  for (const suffix of ['', '-wal', '-shm']) {
    assert.equal(statSync(fileOf(place) + suffix).mode & 0o777, 0o600, `mode of ${suffix || 'the file'}`);
  }
  assert.deepEqual(await pragmas(database), { journal_mode: 'wal', synchronous: 2, foreign_keys: 1 });
});

async function pragmas(database: Database<Tables>): Promise<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  await database.write(async (session) => {
    for (const name of ['journal_mode', 'synchronous', 'foreign_keys']) {
      const { rows } = await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(session.kysely);
      Object.assign(values, rows[0]);
    }
  });
  return values;
}

function fileOf(place: Place): string {
  return join(place.options.folder, `${place.options.name}.sqlite`);
}

test('only the write that asks for it runs without foreign keys, also where it fails or others wait', async () => {
  await using place = new Place(undefined);
  const database = await openWithNotes(place, 0);
  const orphan = (id: number) => (session: Parameters<typeof insertNote.run>[0]) =>
    insertNote.run(session, note(id, { author_id: 99 }));
  const failing = async () => {
    throw new Error('not this one');
  };
  const results = await Promise.allSettled([
    database.write(orphan(1)),
    database.write(failing, { withoutForeignKeys: true }),
    database.write(orphan(2)),
    database.write(orphan(3), { withoutForeignKeys: true }),
    database.write(orphan(4), { mayBeLost: true }),
  ]);
  assert.deepEqual(
    results.map((result) => (result.status === 'rejected' ? (result.reason.code ?? 'failed') : 'done')),
    ['conflict', 'failed', 'conflict', 'done', 'conflict'],
  );
  assert.deepEqual(await idsOf(database), [3]);
});
