import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Database } from '../../db/index.ts';
import { normalize } from '../index.ts';
import {
  addNotes,
  changeNote,
  deleteNote,
  type Note,
  openNotes,
  substrings,
  type Tables,
} from './fixture.ts';

const alphabet = [
  ...['a', 'A', 'b', 'B', 'z', 'é', 'e\u0301', 'ß', 'ẞ', 'ſ', 'Σ', 'σ', 'ς', 'İ', 'ı', 'i', 'Ж', 'ж'],
  ...['ש', 'ل', 'ا', 'हि', 'न्', 'ก', 'ำ', '中', '文', 'ガ', 'か\u3099', '가', '\u1100\u1161', 'Ა', 'ა'],
  ...['🙂', '👍🏽', '👩‍💻', '𐐀', '𐐨', '\u{10ffff}', '\ufeff', '\u0001', '\ufffd', '\ufffe', '\uffff'],
  ...[' ', ' ', '\n', '%', '_', '*', '\\', '"', "'", '?', '(', '-', '.', '0', '7'],
  ...['the ', 'The', 'there', 'fog', 'foggy'],
];
const text = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: 12 });
const texts = fc.record({ title: text, body: text });

type Step =
  | { readonly kind: 'add'; readonly texts: readonly { title: string; body: string }[] }
  | { readonly kind: 'change'; readonly at: number; readonly texts: { title: string; body: string } }
  | { readonly kind: 'delete'; readonly at: number }
  | { readonly kind: 'index'; readonly rows: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), texts: fc.array(texts, { minLength: 1, maxLength: 40 }) }),
  fc.record({ kind: fc.constant('change' as const), at: fc.nat(), texts }),
  fc.record({ kind: fc.constant('delete' as const), at: fc.nat() }),
  fc.record({ kind: fc.constant('index' as const), rows: fc.integer({ min: 1, max: 60 }) }),
);

/** Contract of every adapter for substrings. */
export function substringContract(url: string | undefined): void {
  test('rows are found by any part of a field, and by nothing else', async () => {
    await using database = await openNotes(url);
    await addNotes(database, [
      { id: 1, title: '100% of_it', body: 'C:\\path * "star"' },
      { id: 2, title: 'ΟΔΥΣΣΕΥΣ', body: 'İSTANBUL' },
      { id: 3, title: 'cafe\u0301', body: 'Straße' },
      { id: 4, title: 'ends here', body: 'begins there' },
    ]);
    const cases: [string, number[]][] = [
      ...(['%', '_', '*', '\\', '0% of_', '"star"'].map((needle) => [needle, [1]]) as [string, number[]][]),
      ['οδυσσευσ', [2]],
      ['οδυσσευς', []],
      ['istanbul', [2]],
      ['café', [3]],
      ['cafe', []],
      ['straße', [3]],
      ['here', [4]],
      ['here begins', []],
      ['eb', []],
      ['sb', []],
      [' ', [1, 4]],
    ];
    for (const isIndexed of [false, true]) {
      for (const [needle, ids] of cases) {
        assert.deepEqual(await found(database, needle), ids, `${needle}, indexed: ${isIndexed}`);
      }
      await indexAll(database);
    }
  });

  test('after any changes a search finds what a comparison of all texts finds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 3, maxLength: 16 }),
        fc.array(fc.record({ text, at: fc.nat(), length: fc.integer({ min: 1, max: 6 }) }), {
          minLength: 20,
          maxLength: 20,
        }),
        async (steps, needles) => {
          await using database = await openNotes(url);
          const notes = await takeAll(database, steps);
          const all = [...notes.values()];
          const everything = all.map((note) => `${note.title}${note.body}`).join('');
          for (const { text, at, length } of needles) {
            const characters = Array.from(everything);
            const start = characters.length === 0 ? 0 : at % characters.length;
            await assertFound(database, all, normalize(characters.slice(start, start + length).join('')));
            await assertFound(database, all, normalize(text));
          }
        },
      ),
      { numRuns: url ? 6 : 25 },
    );
  });

  test('two processes index side by side, each row once', async () => {
    await using database = await openNotes(url);
    const notes = Array.from({ length: 300 }, (_, index) => ({
      id: index + 1,
      title: `note ${index}`,
      body: index % 3 ? 'fog' : 'ferry',
    }));
    await addNotes(database, notes);
    const indexed = await Promise.all([indexAll(database, 7), indexAll(database, 11)]);
    assert.equal(indexed[0] + indexed[1], url ? 0 : 300);
    assert.equal((await found(database, 'ferry')).length, 100);
    assert.equal((await found(database, 'f')).length, 300);
  });
}

async function takeAll(database: Database<Tables>, steps: readonly Step[]): Promise<Map<number, Note>> {
  const notes = new Map<number, Note>();
  let lastId = 0;
  for (const one of steps) {
    const ids = [...notes.keys()];
    if (one.kind === 'add') {
      const added = one.texts.map((texts) => ({ id: ++lastId, ...texts }));
      await addNotes(database, added);
      for (const note of added) notes.set(note.id, note);
    } else if (one.kind === 'index') {
      await database.write((session) => substrings.indexPending(session, one.rows));
    } else if (ids.length > 0) {
      const id = ids[one.at % ids.length] as number;
      if (one.kind === 'delete') {
        await deleteNote(database, id);
        notes.delete(id);
      } else {
        notes.set(id, { id, ...one.texts });
        await changeNote(database, { id, ...one.texts });
      }
    }
  }
  return notes;
}

async function assertFound(
  database: Database<Tables>,
  notes: readonly Note[],
  needle: string,
): Promise<void> {
  const has = (field: string) => normalize(field).includes(needle);
  const expected = notes.filter(({ title, body }) => has(title) || has(body)).map(({ id }) => id);
  const message = JSON.stringify(needle);
  assert.deepEqual(
    await found(database, needle),
    expected.sort((a, b) => a - b),
    message,
  );
}

/** Finds ids by both ways to ask, which must agree. */
async function found(database: Database<Tables>, needle: string): Promise<number[]> {
  const { dialect } = database;
  return database.read(async ({ kysely }) => {
    const rows = await kysely
      .selectFrom('note')
      .select('id')
      .where(substrings.contains(dialect, needle))
      .orderBy('id')
      .execute();
    const ids = await kysely
      .selectFrom(substrings.matchingIds(dialect, needle).as('found'))
      .select('found.id')
      .orderBy('found.id', 'desc')
      .execute();
    assert.deepEqual(rows, ids.toReversed());
    return rows.map(({ id }) => id);
  });
}

async function indexAll(database: Database<Tables>, rowsMax = 100): Promise<number> {
  let total = 0;
  while (await substrings.hasPending(database)) {
    total += await database.write((session) => substrings.indexPending(session, rowsMax));
  }
  return total;
}
