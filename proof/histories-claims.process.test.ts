import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Claimable, claimProblems, unfinished } from './histories/claims.ts';

describe('the checker of claims', () => {
  const row = (claims: number, holder: string, dueMs: number, isDone = false): Claimable => {
    return { claims, holder, dueMs, isDone };
  };
  /** Rows of one id as they followed one another, with the times of the changes. */
  const changes = (...states: readonly [Claimable | undefined, number][]) =>
    states.map(([after, atMs], index) => ({ id: 'a', atMs, before: states[index - 1]?.[0], after }));

  test('accepts a claim, one after the lease of a worker that died, and a row that is deleted when done', () => {
    const added = [row(0, '', 0), 0] as const;
    const claimed = [row(1, 'x', 1_000), 10] as const;
    const again = [row(2, 'y', 2_000), 1_010] as const;
    const done = changes(
      [...added],
      [...claimed],
      [...again],
      [row(2, 'y', 2_000, true), 1_500],
      [undefined, 9_000],
    );
    assert.deepEqual([claimProblems(done), unfinished(done)], [[], []]);
    const released = changes([...added], [...claimed], [row(1, '', 500), 200], [row(2, 'y', 1_600), 600]);
    assert.deepEqual([claimProblems(released), unfinished(released)], [[], ['a']]);
  });

  for (const [what, states, expected] of [
    [
      'a claim of what another holds',
      [
        [row(0, '', 0), 0],
        [row(1, 'x', 900), 10],
        [row(2, 'y', 999), 99],
      ],
      /801 ms before/,
    ],
    [
      'a change of hands without a claim',
      [
        [row(1, 'x', 900), 0],
        [row(1, 'y', 900), 10],
      ],
      /changed hands/,
    ],
    [
      'work on what is done',
      [
        [row(1, 'x', 9, true), 0],
        [row(2, 'y', 9), 10],
      ],
      /taken up again/,
    ],
    [
      'an id that is added again',
      [
        [row(1, 'x', 9), 0],
        [undefined, 5],
        [row(0, '', 9), 10],
      ],
      /taken up again/,
    ],
    [
      'an end by a process that did not hold it',
      [
        [row(1, '', 9), 0],
        [undefined, 5],
      ],
      /did not hold it/,
    ],
  ] as const)
    test(`refuses ${what}`, () => {
      const given = states.map(([state, atMs]): [Claimable | undefined, number] => [state, atMs]);
      assert.match(claimProblems(changes(...given)).join(), expected);
    });
});
