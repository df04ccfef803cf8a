import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { emptyBitmap, placesOf } from './bitmap.ts';
import { listDocuments, packLists } from './lists.ts';
import { kinds, listsIn, type Page, unpackPages } from './pages.ts';
import { addPlaces, decodePlaces, encodePlaces } from './postings.ts';

const span = 65_536;

test('places come back as they went in, in few bytes', () => {
  const sets = fc.oneof(
    fc.uniqueArray(fc.nat(span - 1), { maxLength: 60 }),
    fc
      .tuple(fc.nat(40_000), fc.integer({ min: 1, max: 25_000 }))
      .map(([from, count]) => Array.from({ length: count }, (_, index) => from + index)),
    fc
      .integer({ min: 1, max: 9 })
      .map((step) => Array.from({ length: Math.floor(span / step) }, (_, index) => index * step)),
  );
  fc.assert(
    fc.property(sets, (unordered) => {
      const places = unordered.toSorted((a, b) => a - b);
      const bytes = encodePlaces(places, span);
      assert.ok(bytes.length <= span / 8 + 1);
      const bitmap = emptyBitmap(span);
      addPlaces(bitmap, bytes);
      assert.deepEqual([...placesOf(bitmap)], places);
      const decoded = new Uint16Array(places.length + 1);
      const moved = places.filter((place) => place < 100).length === places.length ? 7 : 0;
      assert.equal(decodePlaces(bytes, moved, decoded, 1), places.length + 1);
      assert.deepEqual(
        [...decoded.subarray(1)],
        places.map((place) => place + moved),
      );
    }),
    { numRuns: 200 },
  );
});

test('each run of four units has the documents that hold it', async () => {
  const texts = fc.array(
    fc.string({ unit: fc.constantFrom('a', 'b', 'é', '中', '🙂', ' '), maxLength: 12 }),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(texts, async (bodies) => {
      const documents = bodies.map((body, index) => ({
        place: index * 3,
        userId: 1 + (index % 2),
        text: `tA${body}`,
      }));
      const pages: Page[] = [];
      for await (const page of packLists([listDocuments(documents, 1)], 128, 1)) pages.push(page);
      const lists = new Map<string, number[]>();
      const data = pages.filter(({ kind }) => kind === kinds.gram).map((page) => page.data);
      for (const { key, places } of unpackPages(data, 0)) lists.set(key, [...places]);
      const expected = new Map<string, number[]>();
      for (const { place, text } of documents) {
        for (const part of text.split('A').map((field) => `${field}AAA`)) {
          for (let at = 0; at + 4 <= part.length; at++) {
            const key = part.slice(at, at + 4);
            expected.set(key, [...new Set([...(expected.get(key) ?? []), place])]);
          }
        }
      }
      assert.deepEqual(lists, new Map([...expected].sort(([a], [b]) => (a < b ? -1 : 1))));
      const placesWith = (low: string, high: string) => {
        const bitmap = emptyBitmap(128);
        for (const page of data) for (const list of listsIn(page, low, high)) addPlaces(bitmap, list);
        return [...placesOf(bitmap)];
      };
      for (const [key, places] of lists) {
        assert.deepEqual(placesWith(key, key), places);
        for (const absent of [key.slice(1), `${key}a`, `b${key.slice(1)}b`, '\uffff']) {
          assert.deepEqual(placesWith(absent, absent), []);
        }
        const likeIt = [...lists]
          .filter(([other]) => other.startsWith(key.slice(0, 2)))
          .flatMap(([, at]) => at);
        const expectedPlaces = [...new Set(likeIt)].sort((a, b) => a - b);
        assert.deepEqual(placesWith(key.slice(0, 2), key.slice(0, 2).padEnd(4, '\uffff')), expectedPlaces);
      }
    }),
    { numRuns: 60 },
  );
});
