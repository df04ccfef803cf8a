import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Database } from '../../db/index.ts';
import { BoundedWordIndex, parseWordQuery, rankDocuments, type WordMatch } from '../index.ts';
import { addNote, deleteNote, type Note, openNotes, type Tables, words } from './fixture.ts';
import { cases, quotes } from './words.suite.ts';

const terms = new BoundedWordIndex({ table: 'note_terms', fields: ['title', 'body'], leadFields: ['title'] });
/** One document on each shelf of PostgreSQL, and one beyond the last. */
const spread = [1, 4_096, 4_097, 32_768, 32_769, 262_144, 262_145, 9_000_000];

/** Contract of every adapter for words in large collections. */
export function boundedWordContract(url: string | undefined): void {
  test('finds what the ranked index finds', async () => {
    await using database = await openNotes(url);
    await addTerms(database, quotes);
    for (const [query, ids] of cases) {
      const found = await first(database, query, 100);
      assert.deepEqual(found.map(({ id }) => id).sort(byNumber), ids, query);
      assert.equal(await terms.count(database, parseWordQuery(query), 100), ids.length, query);
      const matching = terms.matchingIds(database.dialect, parseWordQuery(query));
      const rows = await database.kysely.selectFrom(matching.as('found')).select('found.id').execute();
      assert.deepEqual(rows.map(({ id }) => id).sort(byNumber), ids, query);
    }
  });

  test('finds at most as many as asked for: lead fields first, then by id, whatever their ids', async () => {
    await using database = await openNotes(url);
    const isLead = (id: number) => id === 32_769 || id === 9_000_000;
    await addTerms(
      database,
      spread.map((id) => ({
        id,
        title: isLead(id) ? 'Courage' : 'Fear',
        body: 'to have courage, or courage enough',
      })),
    );
    const expected = [
      ...spread.filter(isLead).map((id) => ({ id, isLead: true })),
      ...spread.filter((id) => !isLead(id)).map((id) => ({ id, isLead: false })),
    ];
    for (let limit = 1; limit <= spread.length + 1; limit++) {
      assert.deepEqual(await first(database, 'courage', limit), expected.slice(0, limit));
      assert.equal(
        await terms.count(database, parseWordQuery('courage'), limit),
        Math.min(limit, spread.length),
      );
    }
    const bodies = spread.map((id) => ({ id, isLead: false }));
    for (const query of ['"or courage"', 'eno*', 'have -happiness']) {
      for (const limit of [1, 3, 8]) {
        const found = (await first(database, query, limit)).map(({ id }) => ({ id, isLead: false }));
        assert.deepEqual(found, bodies.slice(0, limit), query);
      }
    }
    assert.deepEqual(await first(database, 'courage -fear', 9), expected.slice(0, 2));
    assert.deepEqual(await first(database, 'courage fear', 9), [
      ...spread.filter((id) => !isLead(id)).map((id) => ({ id, isLead: true })),
    ]);
  });

  test('finds a document as it is now', async () => {
    await using database = await openNotes(url);
    await addTerms(database, quotes);
    await database.write((session) => terms.put(session, 1, { title: 'Anonymous', body: 'Nothing.' }));
    assert.deepEqual(await first(database, 'churchill', 9), []);
    assert.deepEqual(await first(database, 'anonymous', 9), [{ id: 1, isLead: true }]);
    await deleteNote(database, 3);
    assert.deepEqual(await first(database, 'courage', 9), []);
    await database.write((session) => terms.remove(session, 2));
    assert.deepEqual(await first(database, 'zola', 9), []);
  });

  test('agrees with the ranked index on any texts', async () => {
    await using database = await openNotes(url);
    let id = 0;
    const word = fc.constantFrom('love', 'loves', 'to', 'be', '1', '0', '=', '@', '/', 'é', '明月', 'Don’t');
    const text = fc.array(word, { maxLength: 6 }).map((list) => list.join(' '));
    await fc.assert(
      fc.asyncProperty(text, text, text, async (title, body, query) => {
        const note = { id: ++id, title, body };
        await addTerms(database, [note]);
        await database.write((session) => words.put(session, note.id, note));
        for (const asked of [query, `"${query}"`, `${query}*`, `${query} -${title}`]) {
          const parsed = parseWordQuery(asked);
          const rows = await database.kysely
            .selectFrom(words.matches(database.dialect, parsed).as('found'))
            .select('found.id')
            .execute();
          const found = await terms.first(database, parsed, 1_000);
          assert.deepEqual(
            found.map((each) => each.id).sort(byNumber),
            rows.map((each) => each.id).sort(byNumber),
            asked,
          );
        }
      }),
      { numRuns: url ? 40 : 100 },
    );
  });
}

test('documents are ranked by how much of them matches, and stay in order where that is equal', () => {
  const documents = [
    { title: 'Others', body: `courage among many other words, ${'and more of them '.repeat(30)}` },
    { title: 'Others', body: 'courage courage courage' },
    { title: 'Courage', body: 'A long text about something else. '.repeat(20) },
    { title: 'Others', body: 'courage courage courage' },
    { title: 'Others', body: 'courage' },
  ];
  const ranked = rankDocuments(documents, parseWordQuery('courage'), {
    textsOf: (document) => document,
    weights: { title: 1_000, body: 1 },
  });
  assert.deepEqual(
    ranked.map((document) => documents.indexOf(document)),
    [2, 1, 3, 4, 0],
  );
  assert.deepEqual(
    rankDocuments([] as typeof documents, parseWordQuery('x'), {
      textsOf: (document) => document,
      weights: { title: 1, body: 1 },
    }),
    [],
  );
});

async function addTerms(database: Database<Tables>, notes: readonly Note[]): Promise<void> {
  await database.write(async (session) => {
    for (const note of notes) {
      await addNote(session, note);
      await terms.put(session, note.id, note);
    }
  });
}

function first(database: Database<Tables>, query: string, limit: number): Promise<WordMatch[]> {
  return terms.first(database, parseWordQuery(query), limit);
}

function byNumber(a: number, b: number): number {
  return a - b;
}
