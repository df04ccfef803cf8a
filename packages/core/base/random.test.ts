import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomBytes } from './random.ts';

test('returns the requested number of bytes, different each time', () => {
  for (const count of [0, 1, 12, 32, 4_095, 4_096, 4_097, 100_000]) {
    assert.equal(randomBytes(count).length, count);
  }
  const seen = new Set(Array.from({ length: 10_000 }, () => randomBytes(12).toString('hex')));
  assert.equal(seen.size, 10_000);
});

test('returned bytes do not change, and take all values', () => {
  const first = randomBytes(16);
  const before = first.toString('hex');
  const counts = new Array<number>(256).fill(0);
  for (let round = 0; round < 1_000; round++) {
    for (const byte of randomBytes(100)) counts[byte] = (counts[byte] ?? 0) + 1;
  }
  assert.equal(first.toString('hex'), before);
  // 100,000 bytes: each value is expected 391 times, with a standard deviation of 20.
  assert.ok(
    Math.min(...counts) > 250 && Math.max(...counts) < 550,
    `${Math.min(...counts)} to ${Math.max(...counts)}`,
  );
});
