import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareKeys, type Key } from './orders.ts';
import { selectIds } from './select.ts';

test('a page is found among ordered lists by few of their keys', async () => {
  const shapes = fc.record({
    lengths: fc.array(fc.oneof(fc.nat(40), fc.nat(9_000)), { minLength: 1, maxLength: 40 }),
    differing: fc.constantFrom(1, 2, 50, 100_000),
    seed: fc.nat(),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    limit: fc.integer({ min: 0, max: 100 }),
    asText: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(shapes, async ({ lengths, differing, seed, at, limit, asText }) => {
      const random = numbers(seed);
      const keys = lengths.map((length) =>
        Array.from({ length }, () => Math.floor(random() ** 3 * differing)),
      );
      let id = 0;
      const lists = keys.map((list) =>
        list.map((key): Key => ({ id: ++id, key: asText ? `title ${key}` : key })).sort(compareKeys),
      );
      const byId = new Map(lists.flat().map((entry) => [entry.id, entry]));
      const rows = Math.min(limit, byId.size);
      const page = { offset: Math.floor(at * (byId.size - rows)), limit: rows };
      let read = 0;
      const ids = await selectIds(
        lists.map((list) => ({ length: list.length, at: (index) => list[index]?.id as number })),
        page,
        async (some) => {
          read += some.length;
          return some.map((one) => byId.get(one) as Key).reverse();
        },
      );
      const sorted = lists.flat().sort(compareKeys);
      assert.deepEqual(
        ids,
        sorted.slice(page.offset, page.offset + page.limit).map((entry) => entry.id),
      );
      assert.ok(read <= 3_000, `${read} keys of ${byId.size} were read`);
    }),
    { numRuns: 60 },
  );
});

test('keys are in the order of code points, then of ids', () => {
  const keys = ['b', 'a', '\u{10000}', '\uffff', '\ue000', 'ab', '\u{1f600}', '\u{1f601}', ''];
  const byBytes = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const sorted = keys.map((key, id) => ({ id, key })).sort(compareKeys);
  assert.deepEqual(
    sorted.map(({ key }) => key),
    byBytes,
  );
  assert.ok(compareKeys({ id: 1, key: 'a' }, { id: 2, key: 'a' }) < 0);
});

/** Numbers in [0, 1) from a seed. */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
