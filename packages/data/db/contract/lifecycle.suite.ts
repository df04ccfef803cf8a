import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { readDatabase } from '../open.ts';
import { idsOf, insertNote, note, openWithNotes, Place, type Server, Steps, type Tables } from './fixture.ts';

/** Schemas move forward only. */
export function lifecycleContract(server: Server): void {
  test('a second start finds the schema and the rows in place', async () => {
    await using place = new Place(server);
    await openWithNotes(place, 2);
    assert.deepEqual(await idsOf(await place.open()), [1, 2]);
  });

  test('disposing lets what was begun end, and takes nothing more', async () => {
    await using place = new Place(server);
    const database = await openWithNotes(place, 0);
    const begun = [1, 2, 3].map((id) => database.write((session) => insertNote.run(session, note(id))));
    const disposed = database[Symbol.asyncDispose]();
    await assert.rejects(database.write((session) => insertNote.run(session, note(4))));
    await Promise.all(begun);
    await disposed;
    await database[Symbol.asyncDispose]();
    assert.deepEqual(await idsOf(await place.open()), [1, 2, 3]);
  });

  test('several that start at once all succeed', async () => {
    await using place = new Place(server);
    const databases = await Promise.all([1, 2, 3, 4].map(() => place.open()));
    for (const database of databases) assert.deepEqual(await idsOf(database), []);
  });

  test('a database is read as it is, and none is made for it', async () => {
    await using place = new Place(server);
    const read = () =>
      readDatabase<Tables, unknown>(place.options, async (session, tables) => [
        tables.has('note'),
        tables.has('missing'),
        (await session.kysely.selectFrom('note').select('id').execute()).length,
      ]);
    assert.equal(await read(), undefined);
    assert.equal(await read(), undefined, 'the first one made nothing');
    await openWithNotes(place, 2);
    assert.deepEqual(await read(), [true, false, 2]);
    const write = readDatabase<Tables, unknown>(place.options, ({ kysely }) =>
      kysely.deleteFrom('note').execute(),
    );
    await assert.rejects(write);
    assert.deepEqual(await read(), [true, false, 2]);
  });

  test('migrations run in order of their number, each once', async () => {
    const steps = new Steps();
    await using place = new Place(server);
    steps.write('0001_first.sql', 'create table pet (id bigint primary key)');
    await place.open({ migrations: steps.folder });
    steps.write('0010_tenth.sql', 'insert into pet (id, name) values (1, null)');
    steps.write('0002_second.sql', 'alter table pet add column name text');
    steps.write('0003_third.sqlite.sql', 'insert into pet (id) values (2)');
    steps.write('0003_third.postgres.sql', 'insert into pet (id) values (2)');
    for (let start = 1; start <= 2; start++) {
      const { kysely } = await place.open({ migrations: steps.folder });
      const pets = await kysely
        .withTables<{ pet: { id: number; name: string } }>()
        .selectFrom('pet')
        .selectAll()
        .execute();
      assert.equal(pets.length, 2);
    }
  });

  test('one file for both databases may use every type, also on a STRICT table of SQLite', async () => {
    const steps = new Steps();
    await using place = new Place(server);
    const strict = `create table pet (id int primary key, note text not null default 'a "bigint" it''s') strict`;
    steps.write('0001_pet.sqlite.sql', strict);
    steps.write('0001_pet.postgres.sql', 'create table pet (id bigint primary key, note text not null)');
    const types = ['bigint', 'SMALLINT', 'bytea', 'double  precision', 'text', 'integer'];
    const columns = types.map((type, index) => `alter table pet add column c${index} ${type};`);
    steps.write('0002_columns.sql', `-- it's no bigint\n${columns.join('\n')}`);
    steps.write('0003_text.sql', `insert into pet (id, note, c4) values (1, 'a bigint', '''bytea''')`);
    const { kysely } = await place.open({ migrations: steps.folder });
    const bytes = new Uint8Array([0, 255]);
    await sql`update pet set c0 = ${2 ** 40}, c2 = ${bytes}, c3 = ${0.5}`.execute(kysely);
    const { rows } = await sql`select note, c0, c2, c3, c4 from pet`.execute(kysely);
    assert.deepEqual(rows, [{ note: 'a bigint', c0: 2 ** 40, c2: bytes, c3: 0.5, c4: "'bytea'" }]);
  });

  test('those of packages come first, each with its own numbers, also when a service adds them later', async () => {
    const [own, owners] = [new Steps(), new Steps()];
    await using place = new Place(server);
    own.write('0001_pets.sql', 'create table pet (id bigint primary key)');
    await place.open({ migrations: own.folder });
    owners.write('0001_owners.sql', 'create table owner (id bigint primary key)');
    own.write('0002_owned.sql', 'alter table pet add column owner_id bigint references owner (id)');
    const part = { folder: owners.folder, prefix: 'owners', versionsFrom: 10_000 };
    const open = (): Promise<unknown> => place.open({ migrations: [own.folder, part] });
    await open();
    owners.write('0002_named.sql', 'alter table owner add column name text');
    own.write('0003_named.sql', 'alter table pet add column name text');
    for (let start = 1; start <= 2; start++) await open();
    await assert.rejects(place.open({ migrations: own.folder }), {
      code: 'precondition_failed',
      message:
        /schema version 10001 \(owners_owners\), newer than this program's 0 \(Octavo .+restore a backup/,
    });
    await assert.rejects(place.open({ migrations: [own.folder, part, part] }), /same versions/);
  });

  test('a migration that fails leaves nothing of its start', async () => {
    const steps = new Steps();
    await using place = new Place(server);
    steps.write('0001_first.sql', 'create table pet (id bigint primary key)');
    steps.write('0002_second.sql', 'insert into pet (id) values (1); insert into nowhere values (1)');
    await assert.rejects(place.open({ migrations: steps.folder }), /nowhere/);
    steps.write('0002_second.sql', 'insert into pet (id) values (1)');
    await place.open({ migrations: steps.folder });
  });

  test('an edited, missing or late migration is refused, and a newer schema too', async () => {
    const steps = new Steps();
    await using place = new Place(server);
    const open = (): Promise<unknown> => place.open({ migrations: steps.folder });
    const refused = (message: RegExp) => ({ code: 'precondition_failed', message });
    steps.write('0001_first.sql', 'create table pet (id bigint primary key)');
    steps.write('0003_third.sql', 'create table owner (id bigint primary key)');
    await open();
    steps.write('0003_third.sql', 'create table owner (id bigint primary key) -- edited');
    await assert.rejects(open(), refused(/3 \(third\) was edited/));
    steps.write('0003_third.sql', 'create table owner (id bigint primary key)');
    steps.write('0002_second.sql', 'create table vet (id bigint primary key)');
    await assert.rejects(open(), refused(/2 \(second\) comes before 3/));
    steps.remove('0002_second.sql');
    steps.remove('0003_third.sql');
    await assert.rejects(
      open(),
      refused(/schema version 3 \(third\), newer than this program's 1 \(Octavo .+restore a backup/),
    );
  });

  test('a folder of migrations with a stray or doubled name is refused', async () => {
    const steps = new Steps();
    await using place = new Place(server);
    steps.write('0001_first.sql', '');
    steps.write('0001_other.sql', '');
    await assert.rejects(place.open({ migrations: steps.folder }), /two migrations have version 0001/);
    steps.remove('0001_other.sql');
    steps.write('second.sql', '');
    await assert.rejects(place.open({ migrations: steps.folder }), /second.sql is no migration/);
  });

  test('a database of an earlier version keeps its history and gets the new migrations', async () => {
    const steps = new Steps();
    await using place = new Place(server);
    steps.write('0001_first.sql', 'create table pet (id bigint primary key)');
    await runScript(place, madeByEarlierVersion);
    steps.write('0002_second.sql', 'insert into pet (id) values (8)');
    for (let start = 1; start <= 2; start++) {
      const { kysely } = await place.open({ migrations: steps.folder });
      assert.deepEqual((await sql`select id from pet order by id`.execute(kysely)).rows, [
        { id: 7 },
        { id: 8 },
      ]);
      const history =
        await sql`select version, name, checksum from schema_migration order by version`.execute(kysely);
      assert.deepEqual(history.rows, [
        { version: 1, name: 'first', checksum: firstChecksum },
        {
          version: 2,
          name: 'second',
          checksum: '0dfae137a35a08cfbc8bf421a59de52555870c677e3bf60372412677281e30ad',
        },
      ]);
    }
    steps.write('0001_first.sql', 'create table pet (id bigint primary key) -- edited');
    await assert.rejects(place.open({ migrations: steps.folder }), { code: 'precondition_failed' });
  });

  test('a database of an earlier version with a newer schema is refused', async () => {
    const steps = new Steps();
    await using place = new Place(server);
    steps.write('0000_nothing.sql', '');
    await runScript(place, madeByEarlierVersion);
    await assert.rejects(place.open({ migrations: steps.folder }), {
      code: 'precondition_failed',
      message: /schema version 1 \(first\), newer than this program's 0 \(Octavo .+restore a backup/,
    });
  });
}

const firstChecksum = '295c8e863a3eaf4e12e4aa607d739150310b4835c2fc680b2578a5e02b7c9c15';

/** Tables left by the versions before Kysely's migrator. */
const madeByEarlierVersion = `
  create table schema_migration (
    version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at_ms bigint NOT NULL);
  insert into schema_migration values (1, 'first', '${firstChecksum}', 1767225600000);
  create table pet (id bigint primary key);
  insert into pet (id) values (7);
`;

async function runScript({ options }: Place, script: string): Promise<void> {
  if (options.url === undefined) {
    using database = new DatabaseSync(join(options.folder, `${options.name}.sqlite`));
    database.exec(script);
    return;
  }
  const client = new pg.Client({ connectionString: options.url });
  await client.connect();
  await client.query(`create schema ${options.name}; set search_path to ${options.name}; ${script}`);
  await client.end();
}
