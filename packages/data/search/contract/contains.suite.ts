import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lettersOf } from '@octavo/core/text';
import fc from 'fast-check';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '../../db/index.ts';
import { containsWord } from '../index.ts';
import { openNotes, type Tables } from './fixture.ts';

const letter = fc.constantFrom(
  ...'aAäÄåeéEoOöøØœŒæÆtThHþÞsSßẞſσΣςίΊιIİıiКкйЙиёЁ가각かがｶ中ﬁ.*[]\\%_-1١'.split(''),
);
const word = fc.string({ unit: letter, minLength: 1, maxLength: 3 });
const text = fc.string({ unit: letter, maxLength: 9 });

/** Contract of words that are looked for in any part of a text. */
export function containsContract(url: string | undefined): void {
  test('a word is found in a text as their letters say, whatever is in them', async () => {
    await using database = await openNotes(url);
    const pairs = fc.sample(fc.tuple(text, word), { numRuns: 1_500, seed: 7 });
    const known = pairs.filter(([, wanted]) => !lettersOf(wanted).includes('sss'));
    const found = await containing(database, known);
    const wrong = known.filter(([within, wanted], index) => found[index] !== isIn(within, wanted));
    assert.deepEqual(wrong, []);
    assert.ok(found.filter(Boolean).length > 50);
  });

  test('every letter of Unicode is found by its other forms', async () => {
    await using database = await openNotes(url);
    const forms: [text: string, word: string][] = [];
    for (let code = 0x80; code < 0x1_0450; code++) {
      const character = String.fromCodePoint(code);
      // Of Unicode 17, which no PostgreSQL knows.
      if (code === 0xa7f1) continue;
      const letters = lettersOf(character);
      if (letters !== character && letters.trim() !== '') forms.push([character, letters]);
    }
    const found = await containing(database, forms);
    assert.deepEqual(
      forms.filter((_, index) => !found[index]),
      [],
    );
    assert.ok(forms.length > 4_000);
  });
}

function isIn(within: string, wanted: string): boolean {
  return lettersOf(within).includes(lettersOf(wanted));
}

/** Tells of each pair whether the database finds the word in the text. */
async function containing(
  database: Database<Tables>,
  pairs: readonly (readonly [text: string, word: string])[],
): Promise<boolean[]> {
  const found: boolean[] = [];
  for (let at = 0; at < pairs.length; at += 100) {
    const conditions = pairs.slice(at, at + 100).map(([within, wanted]): RawBuilder<SqlBool> => {
      const given = sql`cast(${within} as text)`;
      return sql`case when ${containsWord(database.dialect, given, wanted)} then '1' else '0' end`;
    });
    const { rows } = await sql<{ all: string }>`select ${sql.join(conditions, sql` || `)} as "all"`.execute(
      database.kysely,
    );
    found.push(...[...(rows[0]?.all ?? '')].map((each) => each === '1'));
  }
  return found;
}
