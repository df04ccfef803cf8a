import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backoffMs } from './backoff.ts';

const backoff = { firstMs: 100, maxMs: 1_000 };

test('the wait doubles with each failed attempt, up to the longest', () => {
  const waits = [1, 2, 3, 4, 5, 2_000].map((attempts) => backoffMs(attempts, backoff, () => 1));
  assert.deepEqual(waits, [100, 200, 400, 800, 1_000, 1_000]);
});

test('the wait is shorter by up to half at random', () => {
  assert.equal(
    backoffMs(3, backoff, () => 0),
    200,
  );
  for (let round = 0; round < 100; round++) {
    const waitMs = backoffMs(2, backoff);
    assert.ok(waitMs >= 100 && waitMs <= 200, `${waitMs} ms`);
  }
});
