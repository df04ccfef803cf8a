import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { percentages } from './percentages.ts';

test('percentages add up to 100.0, each within a tenth of its exact share', () => {
  assert.deepEqual(percentages([1, 1, 1]), [33.4, 33.3, 33.3]);
  assert.deepEqual(percentages([5, 7]), [41.7, 58.3]);
  assert.deepEqual(percentages([0, 3]), [0, 100]);
  assert.deepEqual([percentages([0, 0]), percentages([])], [[0, 0], []]);
  fc.assert(
    fc.property(fc.array(fc.nat(1_000_000), { minLength: 1, maxLength: 50 }), (counts) => {
      const total = counts.reduce((sum, each) => sum + each, 0);
      const shares = percentages(counts);
      const tenths = shares.reduce((sum, share) => sum + Math.round(share * 10), 0);
      assert.equal(tenths, total === 0 ? 0 : 1_000);
      for (const [index, share] of shares.entries()) {
        assert.ok(Math.abs(share - (total && ((counts[index] ?? 0) / total) * 100)) < 0.1 + 1e-9);
      }
    }),
  );
});
