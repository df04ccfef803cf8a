import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exceeded, timeToParse } from './allowed-time.ts';

const mib = 1024 * 1024;

test('a file may take time by its size, at least 5 and at most 30 seconds of the processor', () => {
  const seconds = (bytes: number, most?: number) => timeToParse(bytes, most).processorMs / 1_000;
  assert.deepEqual(
    [0, mib / 4, mib, 100 * mib].map((bytes) => seconds(bytes)),
    [5, 5, 16, 30],
  );
  assert.equal(seconds(mib, 2_000), 2);
});

test('a process that waits for its turn has four times as long, and one that computes has not', () => {
  const allowed = timeToParse(0);
  assert.equal(exceeded(allowed, { processorMs: 5_000, elapsedMs: 20_000 }), undefined);
  assert.equal(exceeded(allowed, { processorMs: 5_001, elapsedMs: 5_001 }), 5_000);
  assert.equal(exceeded(allowed, { processorMs: 0, elapsedMs: 20_001 }), 20_000);
});
