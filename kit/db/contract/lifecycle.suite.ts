import assert from 'node:assert/strict';
import { rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { testFolder } from '../../testing/folder.ts';
import { restoreDatabase } from '../index.ts';
import { idsOf, insertNote, note, openWithNotes, Place } from './fixture.ts';

/** Schemas move forward only, and backups bring back what was there. */
export function lifecycleContract(url: string | undefined): void {
  test('a second start finds the schema and the rows in place', async () => {
    await using place = new Place(url);
    await openWithNotes(place, 2);
    assert.deepEqual(await idsOf(await place.open()), [1, 2]);
  });

  test('disposing lets what was begun end, and takes nothing more', async () => {
    await using place = new Place(url);
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
    await using place = new Place(url);
    const databases = await Promise.all([1, 2, 3, 4].map(() => place.open()));
    for (const database of databases) assert.deepEqual(await idsOf(database), []);
  });

  test('migrations run in order of their number, each once', async () => {
    const steps = new Steps();
    await using place = new Place(url);
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

  test('a migration that fails leaves nothing of its start', async () => {
    const steps = new Steps();
    await using place = new Place(url);
    steps.write('0001_first.sql', 'create table pet (id bigint primary key)');
    steps.write('0002_second.sql', 'insert into pet (id) values (1); insert into nowhere values (1)');
    await assert.rejects(place.open({ migrations: steps.folder }), /nowhere/);
    steps.write('0002_second.sql', 'insert into pet (id) values (1)');
    await place.open({ migrations: steps.folder });
  });

  test('an edited, missing or late migration is refused, and a newer schema too', async () => {
    const steps = new Steps();
    await using place = new Place(url);
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
      refused(/schema version 3 \(third\), newer than this program's 1: upgrade it/),
    );
  });

  test('a folder of migrations with a stray or doubled name is refused', async () => {
    const steps = new Steps();
    await using place = new Place(url);
    steps.write('0001_first.sql', '');
    steps.write('0001_other.sql', '');
    await assert.rejects(place.open({ migrations: steps.folder }), /two migrations have version 0001/);
    steps.remove('0001_other.sql');
    steps.write('second.sql', '');
    await assert.rejects(place.open({ migrations: steps.folder }), /second.sql is no migration/);
  });

  test('a backup taken while others write holds one moment, and restores elsewhere', async () => {
    await using place = new Place(url);
    await using target = new Place(url);
    const database = await openWithNotes(place, 2000);
    const file = join(place.options.folder, 'backup');
    let last = 2000;
    let copied = false;
    const writing = (async () => {
      while (!copied) {
        const pair = [note(++last), note(++last)];
        await database.write(async (session) => {
          for (const row of pair) await insertNote.run(session, row);
        });
      }
    })();
    await database.backup(file);
    copied = true;
    await writing;
    assert.equal(statSync(file).mode & 0o777, 0o600);
    await restoreDatabase({ ...target.options, file });
    const ids = await idsOf(await target.open());
    assert.ok(ids.length >= 2000 && ids.length % 2 === 0 && ids.length <= last, `${ids.length} of ${last}`);
    assert.deepEqual(ids, (await idsOf(database)).slice(0, ids.length));
  });

  test('restoring over rows is refused unless it is wanted', async () => {
    await using place = new Place(url);
    const database = await openWithNotes(place, 2);
    const file = join(place.options.folder, 'backup');
    await database.backup(file);
    await insertNote.run(database, note(3));
    await database[Symbol.asyncDispose]();
    await assert.rejects(restoreDatabase({ ...place.options, file }), { code: 'conflict' });
    assert.deepEqual(await idsOf(await place.open()), [1, 2, 3]);
    await restoreDatabase({ ...place.options, file, overwrite: true });
    const restored = await place.open();
    assert.deepEqual(await idsOf(restored), [1, 2]);
    await assert.rejects(insertNote.run(restored, note(3, { author_id: 9 })), { code: 'conflict' });
  });

  test('a file that is no whole backup is refused, and one from a newer version', async () => {
    await using place = new Place(url);
    await using target = new Place(url);
    const steps = new Steps();
    const database = await openWithNotes(place, 500);
    const file = join(place.options.folder, 'backup');
    await database.backup(file);
    steps.write('0000_nothing.sql', '');
    const older = restoreDatabase({ ...target.options, file, migrations: steps.folder });
    await assert.rejects(older, { code: 'precondition_failed', message: /newer than this program/ });
    truncateSync(file, statSync(file).size - 5000);
    await assert.rejects(restoreDatabase({ ...target.options, file }), { code: 'invalid_input' });
    writeFileSync(file, 'something else');
    await assert.rejects(restoreDatabase({ ...target.options, file }), { code: 'invalid_input' });
    await assert.rejects(restoreDatabase({ ...target.options, file: `${file}.gone` }), {
      code: 'invalid_input',
    });
    assert.deepEqual(await idsOf(await target.open()), []);
  });
}

/** A folder of migrations to change in a test. */
class Steps {
  readonly #path = testFolder('migrations');

  get folder(): URL {
    return pathToFileURL(this.#path);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.#path, name), text);
  }

  remove(name: string): void {
    rmSync(join(this.#path, name));
  }
}
