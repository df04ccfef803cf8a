import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toCounts } from './poll.ts';

function percentages(votes: readonly number[]): number[] {
  const choices = votes.map((count, id) => ({ id, votes: count }));
  return toCounts({ max_choices: 1, extra_votes: 0 }, choices).choices.map(({ percent }) => percent);
}

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

test('with several answers, percentages are shares of the people who voted', () => {
  const counts = (extra_votes: number, votes: readonly number[]) =>
    toCounts(
      { max_choices: 3, extra_votes },
      votes.map((count, id) => ({ id, votes: count })),
    );
  const { total, choices } = counts(3, [3, 2, 1]);
  assert.equal(total, 3);
  assert.deepEqual(
    choices.map(({ percent }) => percent),
    [100, 66.7, 33.3],
  );
  assert.deepEqual(counts(0, [0, 0]).choices[0], { choice: 0, votes: 0, percent: 0 });
  // Two of three people voted for a choice that was deleted, one of them for nothing else.
  assert.equal(counts(-1, [2, 0]).total, 3);
});
