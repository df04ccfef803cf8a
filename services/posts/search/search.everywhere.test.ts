import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bulkCreate, exported, inTestMode, listing, refusal, startPosts } from '../testing/testing.ts';

/** The predicate written another way than in packages/data/search: simple lower case of the NFC, one code point at a time. */
function matches(post: { title: string; body: string }, search: string): boolean {
  const term = simple(search.trim());
  return simple(post.title).includes(term) || simple(post.body).includes(term);
}

function simple(text: string): string {
  // Of all code points, only İ becomes two; the first of them is its simple lower case.
  return Array.from(text.normalize('NFC'), (character) => Array.from(character.toLowerCase())[0]).join('');
}

const alphabet = [
  ...['a', 'A', 'b', 'B', 'z', 'é', 'e\u0301', 'É', 'ß', 'ẞ', 'ſ', 'K', 'Å', 'ö', 'Ö'],
  ...['Σ', 'σ', 'ς', 'Ω', 'Ω', 'ί', 'İ', 'I', 'ı', 'i', 'i\u0307', 'Ж', 'ж', 'ё', 'Ё'],
  ...['ש', 'ل', 'ا', 'हि', 'न्', 'ก', 'ำ', '中', '文', '日', 'ガ', 'か\u3099', '가', '\u1100\u1161', 'Ა', 'ა'],
  ...['🙂', '👍🏽', '👩‍💻', '🇺🇳', '𐐀', '𐐨', '\u{10ffff}', '\ufeff', '\u0001'],
  ...[' ', ' ', '\n', '\t', '%', '_', '*', '\\', '"', "'", '?', '(', '-', '.', '0', '7'],
];
const text = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength: 12 });
const post = fc
  .record({ userId: fc.integer({ min: 1, max: 3 }), title: text, body: text })
  .filter(
    ({ title, body }) =>
      /[^\p{White_Space}\p{Cc}\p{Cf}]/u.test(title) && /[^\p{White_Space}\p{Cc}\p{Cf}]/u.test(body),
  );

await inTestMode((world) => {
  test('finds a part of title or body, in any case, and nothing else', async (context) => {
    const { client } = await startPosts(context, world);
    const posts = [
      { userId: 1, title: '100% of_it', body: 'C:\\path * star' },
      { userId: 1, title: 'ΟΔΥΣΣΕΥΣ', body: 'İSTANBUL' },
      { userId: 2, title: 'cafe\u0301', body: 'Straße' },
      { userId: 2, title: 'ends here', body: 'begins there' },
    ];
    await bulkCreate(client, posts);
    const found = async (search: string, userId?: number) =>
      (await client.listPosts(listing({ filter: { search, userId }, descending: false }))).posts.map(
        ({ id }) => id,
      );
    assert.deepEqual(await found('%'), [1]);
    assert.deepEqual(await found('_'), [1]);
    assert.deepEqual(await found('*'), [1]);
    assert.deepEqual(await found('\\'), [1]);
    assert.deepEqual(await found('0% OF_'), [1]);
    assert.deepEqual(await found('οδυσσευς'), []);
    assert.deepEqual(await found('οδυσσευσ'), [2]);
    assert.deepEqual(await found('ΔΥΣ'), [2]);
    assert.deepEqual(await found('istanbul'), [2]);
    assert.deepEqual(await found('İstanbul'), [2]);
    assert.deepEqual(await found('CAFÉ'), [3]);
    assert.deepEqual(await found('cafe'), []);
    assert.deepEqual(await found('strasse'), []);
    assert.deepEqual(await found('  STRAẞE \n'), [3]);
    assert.deepEqual(await found('here'), [4]);
    assert.deepEqual(await found('here begins'), []);
    assert.deepEqual(await found('eb'), []);
    assert.deepEqual(await found('hereAbegins'), []);
    assert.deepEqual(await found('ere', 1), []);
    assert.deepEqual(await found('ere', 2), [4]);
    assert.deepEqual(await found(' '), [1, 2, 3, 4]);
    assert.deepEqual(await found(''), [1, 2, 3, 4]);
    assert.deepEqual(await found("' OR 1=1 --"), []);
    const { fields } = await refusal(client.listPosts(listing({ filter: { search: 'a\0b' } })));
    assert.deepEqual(fields, { search: 'must not contain the character U+0000' });
  });

  test('finds what the predicate says, in lists and exports', async (context) => {
    const { client } = await startPosts(context, world);
    const rows = fc.sample(post, { numRuns: 400, seed: 7 });
    await bulkCreate(client, rows);
    const stored = await exported(client);
    const parts = fc.constantFrom(...stored).chain(({ title, body }) => {
      const units = Array.from(`${title}${body}`);
      return fc
        .tuple(fc.nat(units.length - 1), fc.integer({ min: 1, max: 5 }), fc.boolean())
        .map(([start, length, upper]) => {
          const part = units.slice(start, start + length).join('');
          return upper ? part.toUpperCase() : part;
        });
    });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(parts, text),
        fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
        async (search, userId) => {
          const expected = stored
            .filter((candidate) => userId === undefined || candidate.userId === userId)
            .filter((candidate) => matches(candidate, search));
          const filter = { search, userId };
          const { posts, total } = await client.listPosts(
            listing({ filter, descending: false, pageSize: 100 }),
          );
          assert.equal(total, expected.length);
          assert.deepEqual(posts, expected.slice(0, 100));
          assert.deepEqual(await exported(client, filter), expected);
        },
      ),
      { numRuns: 300 },
    );
  });
});
