import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { AppError } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { testFolder, writesDuring } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { sql } from 'kysely';
import { type Database, deleteRows, openDatabase, type WriteSession } from '../index.ts';
import { completeDeletions } from './delete-rows.ts';

interface Tables {
  house: { id: number };
  room: { house: number; number: number };
  visit: { id: number; house: number; room: number };
  key: { id: number; house: number | null };
  deed: { house: number };
}

const schema = `CREATE TABLE house (id bigint PRIMARY KEY);
CREATE TABLE room (
  house bigint NOT NULL REFERENCES house (id) ON DELETE CASCADE, number bigint NOT NULL, PRIMARY KEY (house, number)
);
CREATE TABLE visit (
  id bigint PRIMARY KEY, house bigint NOT NULL, room bigint NOT NULL,
  FOREIGN KEY (house, room) REFERENCES room (house, number) ON DELETE CASCADE
);
CREATE INDEX visit_room ON visit (house, room);
CREATE TABLE key (id bigint PRIMARY KEY, house bigint REFERENCES house (id) ON DELETE SET NULL);
CREATE TABLE deed (house bigint NOT NULL REFERENCES house (id));`;

const visits = 10_000;
const house = { table: 'house', column: 'id', keys: [1] };
const demolish = ({ kysely }: WriteSession<Tables>) =>
  kysely.deleteFrom('house').where('id', '=', 1).execute();

const postgres = await testDatabaseUrl();
describe('on SQLite', () => {
  cases(undefined);
  sqliteCases();
});
describe('on PostgreSQL', { skip: postgres.skip }, () => {
  cases(postgres.url);
  postgresCases(String(postgres.url));
});

function cases(url: string | undefined): void {
  test('many rows are deleted with all that depends on them, and those of others stay', async () => {
    await using database = await openHouses({ url, name: 'house_many' });
    await deleteRows(database, house, demolish);
    assert.deepEqual(await rowsOf(database), { house: [2], room: [2, 2], visit: [2, 2, 2], key: [null, 2] });
    await assert.rejects(
      database.write(({ kysely }) => kysely.insertInto('room').values({ house: 1, number: 1 }).execute()),
      { code: 'conflict' },
      'foreign keys hold again',
    );
  });

  test('a part of the key is not the key', async () => {
    await using database = await openHouses({ url, name: 'house_keys' });
    await deleteRows(database, { table: 'room', column: 'number', keys: [2] }, ({ kysely }) =>
      kysely.deleteFrom('room').where('number', '=', 2).execute(),
    );
    assert.equal((await rowsOf(database)).visit.length, visits + 3, 'all were in room 1');
  });

  test('nothing is deleted if the work throws or deletes nothing, or if a foreign key refuses the deletion', async () => {
    await using database = await openHouses({ url, name: 'house_checks' });
    const refusal = new AppError('forbidden', 'no');
    const before = await rowsOf(database);
    await assert.rejects(
      deleteRows(database, house, () => Promise.reject(refusal)),
      refusal,
    );
    assert.deepEqual(await rowsOf(database), before);
    await database.write(({ kysely }) => kysely.insertInto('deed').values({ house: 1 }).execute());
    await assert.rejects(deleteRows(database, house, demolish), { code: 'conflict' });
    assert.deepEqual(await rowsOf(database), before);
  });
}

function sqliteCases(): void {
  test('others write while many rows are deleted', async () => {
    await using database = await openHouses({ name: 'house_others' });
    let id = 100_000;
    const written = await writesDuring(deleteRows(database, house, demolish), () =>
      database.write(({ kysely }) =>
        kysely.insertInto('visit').values({ id: id++, house: 2, room: 1 }).execute(),
      ),
    );
    assert.ok(written >= 5, `${written} writes of others`);
  });

  test('many references are cleared while others write', async () => {
    await using database = await openHouses({ name: 'house_keys' });
    await sql`insert into key (id, house)
      with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000) select 10 + i, 2 from n`.execute(
      database.kysely,
    );
    const doomed = { ...house, keys: [2] };
    const deletion = deleteRows(database, doomed, ({ kysely }) =>
      kysely.deleteFrom('house').where('id', '=', 2).execute(),
    );
    const touch = () => database.kysely.updateTable('key').set({ house: 1 }).where('id', '=', 1).execute();
    const written = await writesDuring(deletion, touch);
    assert.ok(written >= 5, `${written} writes of others`);
    const { key, room } = await rowsOf(database);
    assert.deepEqual([new Set(key), room], [new Set([1, null]), [1, 1]]);
  });

  test('what a crash leaves is gone for everybody, and is deleted at the next start', async () => {
    const folder = testFolder('deletion');
    {
      await using database = await openHouses({ name: 'houses', folder });
      await cutOff(database);
      const left = await rowsOf(database);
      assert.deepEqual([left.house, left.room.length], [[2], 4]);
      assert.ok(left.visit.length > 1_000 && left.visit.length < visits, `${left.visit.length} visits`);
    }
    await using database = await openHouses({ name: 'houses', folder, isNew: false });
    assert.deepEqual(await rowsOf(database), { house: [2], room: [2, 2], visit: [2, 2, 2], key: [null, 2] });
  });

  test('a process that is alive completes what another has left, and two at once do not disturb each other', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const folder = testFolder('deletion');
    await using alive = await openHouses({ name: 'houses', folder });
    await using other = await openHouses({ name: 'houses', folder, isNew: false });
    await cutOff(alive);
    t.mock.timers.tick(60_000);
    await Promise.all([completeDeletions(alive), completeDeletions(other)]);
    assert.deepEqual((await rowsOf(alive)).visit, [2, 2, 2]);
    await addVisits(alive, 3_000);
    await cutOff(alive, 2);
    t.mock.timers.tick(60_000);
    while ((await rowsOf(other)).visit.length > 0) await nextTurn();
    assert.deepEqual(await rowsOf(other), { house: [], room: [], visit: [], key: [null, null] });
  });
}

function postgresCases(url: string): void {
  test('others write while many rows are deleted', async () => {
    await using database = await openHouses({ url, name: 'house_others' });
    await using other = await openHouses({ url, name: 'house_others', isNew: false });
    await deleteRows(database, house, async (session) => {
      assert.equal((await rowsOf(session)).visit.length, 3, 'all of house 1 are deleted, and it is not');
      await addVisits(other, 1);
      await demolish(session);
    });
    assert.equal((await rowsOf(database)).visit.length, 4);
  });

  test('a large deletion that is cut off has not happened', async () => {
    await using database = await openHouses({ url, name: 'house_crash' });
    const before = await rowsOf(database);
    await database.write(({ kysely }) => sql.raw(postgresFault).execute(kysely));
    await assert.rejects(deleteRows(database, house, demolish), /power failure/);
    assert.deepEqual(await rowsOf(database), before);
  });
}

const postgresFault = `create function house_crash.fail() returns trigger language plpgsql as 'begin raise exception ''power failure''; end';
create trigger fault before delete on house_crash.visit for each row when (old.id = 4000) execute function house_crash.fail()`;

/** Deletes a house, and fails in the middle of its visits. */
async function cutOff(database: Database<Tables>, id = 1): Promise<void> {
  const run = (statement: string) => database.write(({ kysely }) => sql.raw(statement).execute(kysely));
  await run(`create trigger fault before delete on visit when (select count(*) from visit) < 2500
    begin select raise(abort, 'power failure'); end`);
  await deleteRows(database, { ...house, keys: [id] }, ({ kysely }) =>
    kysely.deleteFrom('house').where('id', '=', id).execute(),
  );
  await run('drop trigger fault');
}

interface Houses {
  readonly name: string;
  readonly url?: string | undefined;
  readonly folder?: string;
  readonly isNew?: boolean;
}

/** House 1 has two rooms with many visits of the first one, and house 2 a few. Each has a key. */
async function openHouses({
  name,
  url,
  folder = testFolder('deletion'),
  isNew = true,
}: Houses): Promise<Database<Tables>> {
  writeFileSync(join(folder, '0001_houses.sql'), schema);
  const migrations = pathToFileURL(`${folder}/`);
  const database = await openDatabase<Tables>({ name, url, folder, migrations, log: silentLog });
  if (!isNew) return database;
  await database.write(async ({ kysely }) => {
    const houses = [1, 2];
    await kysely
      .insertInto('house')
      .values(houses.map((id) => ({ id })))
      .execute();
    await kysely
      .insertInto('key')
      .values(houses.map((id) => ({ id, house: id })))
      .execute();
    const rooms = houses.flatMap((of) => [1, 2].map((number) => ({ house: of, number })));
    await kysely.insertInto('room').values(rooms).execute();
    await sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${visits + 3})
      insert into visit (id, house, room) select i, case when i <= ${visits} then 1 else 2 end, 1 from n`.execute(
      kysely,
    );
  });
  return database;
}

/** Adds visits of house 2. */
function addVisits(database: Database<Tables>, count: number) {
  return database.write(({ kysely }) =>
    sql`with recursive n (i) as (select 1 union all select i + 1 from n where i < ${count})
      insert into visit (id, house, room) select 1000000 + i, 2, 1 from n`.execute(kysely),
  );
}

/** The houses that the rows of each table refer to. */
async function rowsOf({ kysely }: Pick<Database<Tables>, 'kysely'>) {
  const houses = await kysely.selectFrom('house').select('id').orderBy('id').execute();
  const rooms = await kysely.selectFrom('room').select('house').orderBy('house').execute();
  const found = await kysely.selectFrom('visit').select('house').orderBy('id').execute();
  const keys = await kysely.selectFrom('key').select('house').orderBy('id').execute();
  return {
    house: houses.map(({ id }) => id),
    room: rooms.map((row) => row.house),
    visit: found.map((row) => row.house),
    key: keys.map((row) => row.house),
  };
}
