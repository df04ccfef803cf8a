import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { testFolder } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { sql } from 'kysely';
import type { DatabaseOptions, Derived } from '../database.ts';
import { moveDatabase, openDatabase } from '../open.ts';
import type { WriteSession } from '../session.ts';
import { movedTables } from './tables.ts';

interface Tables {
  owner: { id: number; name: string; things: number };
  thing: { id: number; owner: number; note: string | null; ratio: number | null; bytes: Uint8Array | null };
  seen: { name: string; at_ms: number };
  thing_words: { id: number; words: string };
}

const { url = '', skip } = await testDatabaseUrl();

const derived: Derived = {
  thing_words: {
    async fill(given) {
      const { dialect, kysely } = given as WriteSession<Tables>;
      const words = dialect === 'postgres' ? sql`to_tsvector('simple', note)` : sql`lower(note)`;
      await sql`INSERT INTO thing_words (id, words) SELECT id, ${words} FROM thing WHERE note IS NOT NULL`.execute(
        kysely,
      );
    },
  },
};

/** Values that are written differently, or not at all, by one of the databases. */
const things = [
  { id: 1, owner: 1, note: 'plain', ratio: 0.1, bytes: new Uint8Array([0, 255, 92]) },
  {
    id: 2,
    owner: 1,
    note: 'a\tb\nc\rd\\e\\N \b\f\v "quoted" \u2028 😀 ä',
    ratio: 1e-7,
    bytes: new Uint8Array(),
  },
  { id: 3, owner: 3, note: '\\N', ratio: 1e21, bytes: null },
  { id: 4, owner: 3, note: '', ratio: 12_345_678_901_234_567_000, bytes: null },
  { id: 9_007_199_254_740_991, owner: 3, note: null, ratio: null, bytes: new Uint8Array([10]) },
];

describe('a move', { skip }, () => {
  test('brings every value, number and derived row to PostgreSQL and back, and says so once', async () => {
    const move = await filled();
    const there = await moveDatabase('postgres', move);
    assert.equal(there.isNew, true);
    assert.deepEqual(
      there.tables.map(({ name, rows }) => [name, rows]),
      [
        ['owner', 2],
        ['seen', 1],
        ['thing', 5],
      ],
    );
    const before = await contentOf({ ...move, url: undefined });
    assert.deepEqual(await contentOf(move), before);
    assert.equal((await moveDatabase('postgres', move)).isNew, false);
    const back = { ...move, folder: testFolder('back') };
    assert.deepEqual((await moveDatabase('sqlite', back)).tables, there.tables);
    assert.equal((await moveDatabase('sqlite', back)).isNew, false);
    assert.deepEqual(readdirSync(back.folder), [`${move.name}.sqlite`]);
    assert.deepEqual(await contentOf({ ...back, url: undefined }), before);
    // A number that was given away is not given again, and triggers count again.
    for (const place of [move, { ...back, url: undefined }]) {
      await using database = await openDatabase<Tables>(place);
      await sql`INSERT INTO owner (name) VALUES ('Eve')`.execute(database.kysely);
      await database.kysely
        .insertInto('thing')
        .values({ ...things[0], id: 7, owner: 6, note: 'new' } as Tables['thing'])
        .execute();
      const eve = await database.kysely.selectFrom('owner').selectAll().where('name', '=', 'Eve').execute();
      assert.deepEqual(eve, [{ id: 6, name: 'Eve', things: 1 }]);
      await assert.rejects(
        database.kysely
          .insertInto('thing')
          .values({ ...things[0], id: 8, owner: 77 } as Tables['thing'])
          .execute(),
        { code: 'conflict' },
      );
    }
  });

  test('is refused where the target holds other rows, until that is wanted, and not for what migrations put in', async () => {
    const move = await filled();
    await (await openDatabase(move))[Symbol.asyncDispose]();
    await moveDatabase('postgres', move);
    await change(move, `UPDATE owner SET name = 'Carol' WHERE id = 1`);
    await assert.rejects(moveDatabase('postgres', move), {
      code: 'conflict',
      message: /schema .* is not empty/,
    });
    await moveDatabase('postgres', { ...move, overwrite: true });
    await change({ ...move, url: undefined }, `UPDATE owner SET name = 'Dan' WHERE id = 1`);
    await assert.rejects(moveDatabase('sqlite', move), { code: 'conflict', message: /sqlite is not empty/ });
    await moveDatabase('sqlite', { ...move, overwrite: true });
    assert.match(JSON.stringify(await contentOf({ ...move, url: undefined })), /Alice/);
  });

  test('changes nothing if it is cut off, and is done when it is begun again', async () => {
    const move = await filled();
    const cut = { thing_words: { fill: () => Promise.reject(new Error('cut off')) } };
    await assert.rejects(moveDatabase('postgres', { ...move, derived: cut }), /cut off/);
    assert.equal((await moveDatabase('postgres', move)).isNew, true);
    const back = { ...move, folder: testFolder('back') };
    await assert.rejects(moveDatabase('sqlite', { ...back, derived: cut }), /cut off/);
    assert.deepEqual(readdirSync(back.folder), []);
    assert.equal((await moveDatabase('sqlite', back)).isNew, true);
  });

  test('names the row and the column of a text with U+0000, and replaces it where that is wanted', async () => {
    const move = await filled();
    const file = new DatabaseSync(join(move.folder, `${move.name}.sqlite`));
    file.prepare('UPDATE thing SET note = ? WHERE id = 3').run('a\0b');
    file.close();
    await assert.rejects(moveDatabase('postgres', move), {
      code: 'invalid_input',
      message: /note of table thing holds the character U\+0000 in the row with id 3,.*--replace-nul/,
    });
    await moveDatabase('postgres', { ...move, replacesNul: true });
    assert.match(JSON.stringify(await contentOf(move)), /a\ufffdb/);
  });

  test('names what PostgreSQL refuses', async () => {
    const move = await filled();
    await change({ ...move, url: undefined }, `UPDATE owner SET things = 'many' WHERE id = 1`);
    await assert.rejects(moveDatabase('postgres', move), {
      code: 'invalid_input',
      message: /invalid input syntax for type bigint: "many" \(table owner, line 1, column things/,
    });
  });

  test('lets nobody write to its source', async () => {
    const move = await filled();
    const tries: unknown[] = [];
    const tryToWrite = {
      thing_words: {
        async fill() {
          const other = new DatabaseSync(join(move.folder, `${move.name}.sqlite`), { timeout: 0 });
          try {
            other.exec(`UPDATE owner SET name = 'Mallory'`);
          } catch (error) {
            tries.push((error as Error).message);
          }
          other.close();
        },
      },
    };
    await moveDatabase('postgres', { ...move, derived: tryToWrite });
    assert.deepEqual(tries, ['database is locked']);
  });

  test('is refused while a service is connected, and to a schema of a newer version', async () => {
    const move = await filled();
    const running = await openDatabase<Tables>(move);
    await running.ping();
    await assert.rejects(moveDatabase('postgres', move), {
      code: 'conflict',
      message: /runs, and is connected .*: stop it first/,
    });
    await sql`INSERT INTO schema_migration VALUES (9, 'later', 'x', 0)`.execute(running.kysely);
    await running[Symbol.asyncDispose]();
    await assert.rejects(moveDatabase('postgres', move), {
      code: 'precondition_failed',
      message: /newer than this program/,
    });
    await assert.rejects(moveDatabase('sqlite', { ...move, folder: testFolder('back') }), {
      code: 'precondition_failed',
    });
  });

  test('says in the words of PostgreSQL that a password or an address is wrong', async () => {
    const move = await filled();
    const wrong = new URL(move.url);
    wrong.username = 'nobody-there';
    await assert.rejects(moveDatabase('postgres', { ...move, url: wrong.href }), {
      code: 'unavailable',
      message: /refuses it: role/,
    });
    await assert.rejects(moveDatabase('postgres', { ...move, url: 'postgres://127.0.0.1:1/x' }), {
      message: /cannot be reached/,
    });
    assert.ok(existsSync(join(move.folder, `${move.name}.sqlite`)));
  });
});

describe('the tables of a move', () => {
  const known = { name: 'a', columns: [{ name: 'id', type: 'bigint' }], key: ['id'] };
  const problem = /a move between SQLite and PostgreSQL does not know the (table|column|type)/;
  for (const [what, sqlite, postgres] of [
    ['a table of SQLite alone', [known, { ...known, name: 'b' }], [known]],
    ['a table of PostgreSQL alone', [known], [known, { ...known, name: 'b' }]],
    [
      'a column of one alone',
      [known],
      [{ ...known, columns: [...known.columns, { name: 'x', type: 'text' }] }],
    ],
    ['a type that is not known', [known], [{ ...known, columns: [{ name: 'id', type: 'jsonb' }] }]],
  ] as const)
    test(`do not leave out ${what}`, () => {
      assert.throws(() => movedTables(sqlite, postgres, {}), problem);
    });

  test('leave out what is derived', () => {
    const more = { ...known, columns: [...known.columns, { name: 'x', type: 'text' }] };
    assert.equal(
      movedTables([known, { ...known, name: 'b' }], [more], { b: null, 'a.x': null })[0]?.columns.length,
      1,
    );
  });
});

/** A SQLite database with rows, numbers that were given away, and where to move it. */
async function filled() {
  const move = {
    name: `m_${randomBytes(6).toString('hex')}`,
    url,
    folder: testFolder('move'),
    migrations: new URL('./testing-migrations/', import.meta.url),
    log: silentLog,
    derived,
    overwrite: false,
  };
  await using database = await openDatabase<Tables>({ ...move, url: undefined });
  await database.write(async ({ kysely }) => {
    for (const [id, name] of [
      [1, 'Alice'],
      [3, 'Bob \\. '],
      [5, 'gone'],
    ] as const)
      await kysely.insertInto('owner').values({ id, name, things: 0 }).execute();
    await kysely.deleteFrom('owner').where('id', '=', 5).execute();
    await kysely.insertInto('thing').values(things).execute();
    await sql`INSERT INTO thing_words SELECT id, lower(note) FROM thing WHERE note IS NOT NULL`.execute(
      kysely,
    );
  });
  return move;
}

async function contentOf(place: DatabaseOptions): Promise<unknown> {
  await using database = await openDatabase<Tables>(place);
  const { kysely } = database;
  return {
    owners: await kysely.selectFrom('owner').selectAll().orderBy('id').execute(),
    things: await kysely.selectFrom('thing').selectAll().orderBy('id').execute(),
    seen: await kysely.selectFrom('seen').selectAll().execute(),
    words: await kysely.selectFrom('thing_words').select('id').orderBy('id').execute(),
  };
}

async function change(place: DatabaseOptions, statement: string): Promise<void> {
  await using database = await openDatabase<Tables>(place);
  await sql.raw(statement).execute(database.kysely);
}
