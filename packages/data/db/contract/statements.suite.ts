import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '@octavo/core';
import { sql } from 'kysely';
import { statement } from '../index.ts';
import {
  allNotes,
  insertNote,
  note,
  noteById,
  openWithNotes,
  Place,
  type Server,
  type Tables,
} from './fixture.ts';

const insertSample = statement<Tables, Tables['sample']>()((db, p) =>
  db.insertInto('sample').values({
    id: p('id'),
    whole: p('whole'),
    ratio: p('ratio'),
    flag: p('flag'),
    bytes: p('bytes'),
    json: p('json'),
  }),
);

/** Statements, values and errors are the same on both databases. */
export function statementContract(server: Server): void {
  test('a statement finds a row, all rows or none, as plain objects', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 3);
    assert.deepEqual(await noteById.first(database, { id: 2 }), note(2));
    assert.equal(await noteById.first(database, { id: 9 }), undefined);
    assert.deepEqual(await allNotes.all(database, {}), [note(1), note(2), note(3)]);
    assert.deepEqual(await database.read((session) => noteById.first(session, { id: 2 })), note(2));
  });

  test('an empty list has no value, and not to be in it is true of every row', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 2);
    const notes = database.kysely.selectFrom('note').select('id');
    assert.deepEqual(await notes.where('id', 'in', []).execute(), []);
    assert.equal((await notes.where('id', 'not in', []).execute()).length, 2);
    const changed = await database.write(({ kysely }) =>
      kysely.updateTable('note').set({ lang: 'de' }).where('id', 'in', []).executeTakeFirst(),
    );
    assert.equal(changed.numUpdatedRows, 0n);
  });

  test('the rows of a statement have the type of its query', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 1);
    const named = statement<Tables, { id: number }>()((db, p) =>
      db.selectFrom('note').select(['slug', 'lang as language']).where('id', '=', p('id')),
    );
    const row = await named.first(database, { id: 1 });
    const language: string | undefined = row?.language;
    assert.equal(language, 'en');
    // @ts-expect-error The query does not select it.
    assert.equal(row?.body, undefined);
    // @ts-expect-error A parameter that the statement does not have.
    await named.first(database, { id: 1, slug: 'note-1' });
    const raw = statement<Tables>()(() => sql<{ total: number }>`select count(*) as total from note`);
    const total: number | undefined = (await raw.first(database, {}))?.total;
    assert.equal(total, 1);
    const remove = statement<Tables>()((db) => db.deleteFrom('note'));
    const none: undefined = await remove.first(database, {});
    assert.equal(none, undefined);
  });

  test('a statement tells how many rows it changed, and may return them', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 3);
    const translate = statement<Tables, { from: number; lang: string }>()((db, p) =>
      db
        .updateTable('note')
        .set({ lang: p('lang') })
        .where('id', '>=', p('from')),
    );
    const remove = statement<Tables, { id: number }>()((db, p) =>
      db.deleteFrom('note').where('id', '=', p('id')).returning('slug'),
    );
    assert.deepEqual(await translate.run(database, { from: 2, lang: 'de' }), { changes: 2 });
    assert.deepEqual(await translate.run(database, { from: 9, lang: 'de' }), { changes: 0 });
    assert.deepEqual(await remove.first(database, { id: 1 }), { slug: 'note-1' });
    assert.deepEqual(await remove.all(database, { id: 1 }), []);
    const { numInsertedOrUpdatedRows } = await database.kysely
      .insertInto('author')
      .values({ id: 2, handle: 'Bob' })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    assert.equal(numInsertedOrUpdatedRows, 0n);
  });

  test('values come back as they went in', async () => {
    await using place = new Place(server);
    const database = await place.open();
    const rows = [
      {
        id: 1,
        whole: Number.MAX_SAFE_INTEGER,
        ratio: 0.1,
        flag: 1,
        bytes: new Uint8Array([0, 255]),
        json: '{"a":1}',
      },
      { id: 2, whole: -5, ratio: 3, flag: 0, bytes: new Uint8Array(), json: '"\u2028 é 😀"' },
      { id: 3, whole: null, ratio: null, flag: null, bytes: null, json: null },
    ];
    for (const row of rows) await insertSample.run(database, row);
    assert.deepEqual(await database.kysely.selectFrom('sample').selectAll().orderBy('id').execute(), rows);
    const sums = await database.kysely
      .selectFrom('sample')
      .where('id', '>', 1)
      .select(sql<number>`sum(whole)`.as('sum'))
      .select(sql<number>`avg(ratio)`.as('average'))
      .executeTakeFirst();
    assert.deepEqual(sums, { sum: -5, average: 3 });
  });

  test('a boolean is 1 or 0 both ways, and a whole number is no float', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 1);
    const yes = statement<Tables, { flag: boolean }>()((db, p) =>
      db.insertInto('sample').values({ id: 1, flag: sql<number>`${p('flag')}` }),
    );
    await yes.run(database, { flag: true });
    const row = await database.kysely
      .selectFrom('sample')
      .select('flag')
      .select(sql`exists (select 1 from note)`.as('some'))
      .select(sql`'n' || cast(${7} as bigint)`.as('text'))
      .executeTakeFirst();
    assert.deepEqual(row, { flag: 1, some: 1, text: 'n7' });
  });

  test('an integer beyond 2^53 is an error, not a wrong number', async () => {
    await using place = new Place(server);
    const database = await place.open();
    await sql`insert into sample (id, whole) values (1, 9007199254740993)`.execute(database.kysely);
    await assert.rejects(database.kysely.selectFrom('sample').select('whole').execute(), RangeError);
    await insertSample.run(database, { id: 2, whole: 1, ratio: null, flag: null, bytes: null, json: null });
  });

  test('a missing parameter is an error', async () => {
    await using place = new Place(server);
    const database = await place.open();
    const { slug: _, ...rest } = note(1);
    await assert.rejects(
      async () => insertNote.run(database, rest as never),
      /parameter slug of a statement is missing/,
    );
  });

  test('a unique violation is a conflict that names the columns', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 2);
    const taken = 'is already taken';
    await assertConflict(insertNote.run(database, note(1, { slug: 'new' })), { id: taken });
    await assertConflict(insertNote.run(database, note(3, { slug: 'note-1' })), { slug: taken, lang: taken });
    const { kysely } = database;
    const author = kysely.insertInto('author').values({ id: 3, handle: 'Bob' });
    await assertConflict(author.execute(), { handle: taken });
    await kysely.insertInto('sample').values({ id: 1, json: 'é' }).execute();
    await assertConflict(kysely.insertInto('sample').values({ id: 2, json: 'é' }).execute(), {});
  });

  test('a foreign key violation is a conflict, from either side', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 1);
    await assertConflict(insertNote.run(database, note(2, { author_id: 77 })), {});
    await assertConflict(database.kysely.deleteFrom('author').where('id', '=', 1).execute(), {});
    await assertConflict(
      database.write((session) => session.kysely.deleteFrom('author').where('id', '=', 1).execute()),
      {},
    );
  });

  test('other errors stay as they are', async () => {
    await using place = new Place(server);
    const database = await place.open();
    await assert.rejects(sql`select 1 from nowhere`.execute(database.kysely), isForeign);
    await assert.rejects(insertNote.run(database, note(1, { body: null as never })), isForeign);
  });

  test('transactions and streams of Kysely are refused', async () => {
    await using place = new Place(server);
    const { kysely } = await place.open();
    await assert.rejects(
      kysely.transaction().execute(async () => {}),
      /use database.write/,
    );
    await assert.rejects(kysely.selectFrom('note').selectAll().stream().next(), /use database.stream/);
  });
}

async function assertConflict(act: Promise<unknown>, fields: Record<string, string>): Promise<void> {
  await assert.rejects(act, (error) => {
    assert.ok(error instanceof AppError, String(error));
    assert.equal(error.code, 'conflict');
    assert.deepEqual({ ...error.fields }, fields);
    return true;
  });
}

function isForeign(error: unknown): boolean {
  return error instanceof Error && !(error instanceof AppError);
}
