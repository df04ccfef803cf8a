import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Database } from '../../db/index.ts';
import { parseWordQuery, type WordQuery, type WordQueryOptions } from '../index.ts';
import { termsOf } from '../terms.ts';
import { addNotes, changeNote, deleteNote, openNotes, type Tables, words } from './fixture.ts';

export const quotes = [
  {
    id: 1,
    title: 'Winston Churchill',
    body: 'Courage is going from failure to failure without losing enthusiasm.',
  },
  {
    id: 2,
    title: 'Émile Zola',
    body: 'If you ask me what I came to do in this world, I will answer: to live out loud.',
  },
  { id: 3, title: 'Courage', body: 'What happiness! The happiest are those who run.' },
  { id: 4, title: '李白', body: '床前明月光，疑是地上霜。' },
  {
    id: 5,
    title: 'Don’t',
    body: 'Running, running — the world is running. Søren said: "Ελπίδα" and надежда. हिन्दी में',
  },
];

/** Queries, and the ids of the quotes that they find. */
export const cases: readonly [query: string, ids: number[]][] = [
  ['churchill', [1]],
  ['CHURCHILL', [1]],
  ['emile', [2]],
  ['ÉMILE', [2]],
  ['failures', [1]],
  ['run', [3, 5]],
  ['runs', [3, 5]],
  ['courage', [1, 3]],
  ['courage churchill', [1]],
  ['churchill zola', []],
  ['courage -churchill', [3]],
  ['courage -"failure to failure"', [3]],
  ['-courage', []],
  ['"from failure to failure"', [1]],
  ['"failure failure"', []],
  ['"churchill courage"', []],
  ['hap*', [3]],
  ['happin*', [3]],
  ['happiz*', []],
  ['-hap* courage', [1]],
  ['the', [3, 5]],
  ['to do', [2]],
  ['明月', [4]],
  ['月明', []],
  ['李', [4]],
  ['don’t', [5]],
  ["DON'T", [5]],
  ['soren', [5]],
  ['ελπιδα', [5]],
  ['надежда', [5]],
  ['हिन्दी', [5]],
  ['', []],
  ['"', []],
  ['* ( ) - -- ""', []],
  ['AND', [5]],
  ['title:courage', []],
  ['NEAR(courage)', []],
  ['courage OR zola', []],
  ["courage'); DROP", []],
  ['courage"', [1, 3]],
];

/** Contract of every adapter for words. */
export function wordContract(url: string | undefined): void {
  test('documents are found by stems, phrases, prefixes and exclusion, in any case and without accents', async () => {
    await using database = await openNotes(url);
    await addNotes(database, quotes);
    for (const [query, ids] of cases) assert.deepEqual(await found(database, query), ids, query);
  });

  test('a query can take any of its words, or an unfinished last one', async () => {
    await using database = await openNotes(url);
    await addNotes(database, quotes);
    assert.deepEqual(await found(database, 'churchill zola', { match: 'any' }), [1, 2]);
    assert.deepEqual(await found(database, 'zola nobody', { match: 'any' }), [2]);
    assert.deepEqual(await found(database, 'courage chur'), []);
    assert.deepEqual(await found(database, 'courage chur', { isLastPrefix: true }), [1]);
    assert.deepEqual(await found(database, 'failures', { isLastPrefix: true }), [1]);
    assert.deepEqual(await found(database, 'chur courage', { isLastPrefix: true }), []);
    assert.deepEqual(await found(database, '"courage chur"', { isLastPrefix: true }), []);
  });

  test('the best match comes first, one in a heavier field before all others', async () => {
    await using database = await openNotes(url);
    await addNotes(database, [
      { id: 1, title: 'Others', body: 'courage courage courage courage courage' },
      {
        id: 2,
        title: 'Courage',
        body: 'A long text about something else, which goes on for a while. '.repeat(20),
      },
      { id: 3, title: 'Others', body: `courage among many other words, ${'and more of them '.repeat(30)}` },
      { id: 4, title: 'Nothing', body: 'of the kind' },
    ]);
    assert.deepEqual(await ranked(database, 'courage'), [2, 1, 3]);
  });

  test('rare words count more than common ones, however often these occur', async () => {
    await using database = await openNotes(url);
    const common = Array.from({ length: 30 }, (_, index) => ({
      id: index + 10,
      title: 'Others',
      body: 'a ferry, a ferry, a ferry',
    }));
    await addNotes(database, [...common, { id: 1, title: 'Others', body: 'a sextant among other words' }]);
    const weights = new Map([
      ['ferry', 0.1],
      ['sextant', 3],
    ]);
    const { wanted, ...rest } = parseWordQuery('ferry sextant', { match: 'any' });
    const weighted = wanted.map((clause) => ({
      ...clause,
      weight: weights.get(clause.terms[0]?.word ?? '') as number,
    }));
    const [first, ...others] = await rankedBy(database, { ...rest, wanted: weighted });
    assert.deepEqual([first, others.length], [1, 30]);
  });

  test('a document is found as it is now', async () => {
    await using database = await openNotes(url);
    await addNotes(database, quotes);
    await changeNote(database, { id: 1, title: 'Anonymous', body: 'Nothing.' });
    assert.deepEqual(await found(database, 'churchill'), []);
    assert.deepEqual(await found(database, 'anonymous'), [1]);
    await deleteNote(database, 3);
    assert.deepEqual(await found(database, 'courage'), []);
    await database.write((session) => words.remove(session, 2));
    await database.write((session) => words.remove(session, 99));
    assert.deepEqual(await found(database, 'zola'), []);
  });

  test('any text is a document and a query, and each of its words finds it', async () => {
    await using database = await openNotes(url);
    let id = 0;
    const strange = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme', maxLength: 40 }));
    const text = strange.map((one) => one.replaceAll('\0', ''));
    await fc.assert(
      fc.asyncProperty(text, text, async (title, body) => {
        const note = { id: ++id, title, body };
        await addNotes(database, [note]);
        for (const { word } of [...termsOf(title), ...termsOf(body)]) {
          assert.ok((await found(database, word)).includes(id), JSON.stringify(word));
          assert.ok((await found(database, `${word}*`)).includes(id), JSON.stringify(word));
        }
        await found(database, title);
      }),
      { numRuns: url ? 60 : 200 },
    );
  });
}

async function found(
  database: Database<Tables>,
  query: string,
  options: WordQueryOptions = {},
): Promise<number[]> {
  return (await ranked(database, query, options)).sort((a, b) => a - b);
}

async function ranked(
  database: Database<Tables>,
  query: string,
  options: WordQueryOptions = {},
): Promise<number[]> {
  return rankedBy(database, parseWordQuery(query, options));
}

async function rankedBy(database: Database<Tables>, query: WordQuery): Promise<number[]> {
  const matches = words.matches(database.dialect, query);
  const rows = await database.kysely
    .selectFrom(matches.as('found'))
    .innerJoin('note', 'note.id', 'found.id')
    .select('note.id')
    .orderBy('found.score', 'desc')
    .orderBy('note.id')
    .execute();
  return rows.map(({ id }) => id);
}
