import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { testFolder } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import { sql } from 'kysely';
import { openWithNotes, Place, Steps, type Tables } from '../contract/fixture.ts';
import { type Database, restoreDatabase } from '../index.ts';

const { url, skip } = await testDatabaseUrl();

/** A backup that an earlier version wrote, unpacked, and the migration of its database. */
const earlier = new URL('./testing-backup/', import.meta.url);
const backup = readFileSync(new URL('backup.txt', earlier), 'utf8');

test('a backup of an earlier version brings back values, sequences, generated columns and triggers', {
  skip,
}, async () => {
  await using place = new Place(url);
  await restoreDatabase({ ...place.options, migrations: earlier, file: packed(backup) });
  const restored = await place.open({ migrations: earlier });
  assert.deepEqual(await everything(restored), [
    ['audit', { id: 1, what: 'of the migration' }],
    ['audit', { id: 2, what: 'Alice \u2028 "quoted" \\ \n 😀' }],
    ['audit', { id: 3, what: 'Bob' }],
    ['audit', { id: 4, what: 'gone' }],
    ['person', { ...nobody, id: 1, name: 'of the migration', folded: 'of the migration' }],
    [
      'person',
      {
        id: 2,
        name: 'Alice \u2028 "quoted" \\ \n 😀',
        boss_id: 3,
        folded: 'alice \u2028 "quoted" \\ \n 😀',
        photo: '\\x00ff',
        born: '2026-01-02T01:04:05.678901+00:00',
        tags: ['a', 'b c'],
        facts: '{"big": 9007199254740993}',
        ratio: 0.1,
      },
    ],
    ['person', { ...nobody, id: 3, name: 'Bob', boss_id: 2, folded: 'bob', born: 'infinity', ratio: 'NaN' }],
  ]);
  await sql`insert into person (name, boss_id) values ('Charlie', 2)`.execute(restored.kysely);
  const added = sql`select person.id, folded, what from person join audit on what = name where name = 'Charlie'`;
  const { rows } = await added.execute(restored.kysely);
  assert.deepEqual(rows, [{ id: 5, folded: 'charlie', what: 'Charlie' }]);
  const orphan = sql`insert into person (name, boss_id) values ('nobody', 99)`.execute(restored.kysely);
  await assert.rejects(orphan, { code: 'conflict' });
});

test('restoring brings back the rows of the last table, where nothing comes after them', {
  skip,
}, async () => {
  await using place = new Place(url);
  const person = backup.split('\n').find((line) => line.includes('"id":1,"name"')) as string;
  const people = Array.from({ length: 700 }, (_, index) => person.replace('"id":1', `"id":${index + 1}`));
  const lines = backup.split('\n').filter((line) => !line.startsWith('R') && !line.includes('sequence'));
  const file = packed([...lines.slice(0, 3), ...people, ...lines.slice(3)].join('\n'));
  await restoreDatabase({ ...place.options, migrations: earlier, file });
  const restored = await place.open({ migrations: earlier });
  const { rows } = await sql`select count(*)::int as n from person`.execute(restored.kysely);
  assert.deepEqual(rows, [{ n: 700 }]);
});

test('restoring over rows is refused unless it is wanted', { skip }, async () => {
  await using place = new Place(url);
  const database = await openWithNotes(place, 2);
  await database[Symbol.asyncDispose]();
  const file = packed(backup);
  const options = { ...place.options, migrations: earlier, file };
  await assert.rejects(restoreDatabase(options), { code: 'conflict' });
  await restoreDatabase({ ...options, overwrite: true });
  assert.equal((await everything(await place.open({ migrations: earlier }))).length, 7);
});

test('a file that is no whole backup is refused, and one of a newer version', { skip }, async () => {
  await using place = new Place(url);
  const steps = new Steps();
  steps.write('0000_nothing.sql', '');
  const restore = (file: string, migrations = earlier) =>
    restoreDatabase({ ...place.options, migrations, file });
  const newer = { code: 'precondition_failed', message: /newer than this program/ };
  await assert.rejects(restore(packed(backup), steps.folder), newer);
  await assert.rejects(restore(packed(backup.slice(0, -30))), { code: 'invalid_input' });
  const cut = packed(backup);
  writeFileSync(cut, readFileSync(cut).subarray(0, -20));
  await assert.rejects(restore(cut), { code: 'invalid_input' });
  await assert.rejects(restore(earlier.pathname), { code: 'invalid_input' });
  await assert.rejects(restore(`${cut}.gone`), { code: 'invalid_input' });
});

const nobody = { boss_id: null, photo: null, born: null, tags: null, facts: null, ratio: null };

async function everything({ kysely }: Database<Tables>): Promise<unknown[]> {
  const { rows } = await sql<{ name: string; row: string }>`
    select 'person' as name, (to_jsonb(p) || jsonb_build_object('facts', facts::text))::text as row from person p
    union all select 'audit', row_to_json(a)::text from audit a order by 1, 2`.execute(kysely);
  return rows.map(({ name, row }) => [name, JSON.parse(row)]);
}

function packed(text: string): string {
  const file = join(testFolder('backup'), 'backup');
  writeFileSync(file, gzipSync(text));
  return file;
}
