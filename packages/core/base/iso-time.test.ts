import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isoDay, isoTime } from './iso-time.ts';

test('a time has the format of Date.toISOString', () => {
  const times = fc.integer({ min: -8_640_000_000_000_000, max: 8_640_000_000_000_000 });
  const likely = fc.integer({ min: 0, max: 253_402_300_800_000 });
  fc.assert(
    fc.property(fc.oneof(likely, times), (timeMs) => {
      assert.equal(isoTime(timeMs), new Date(timeMs).toISOString());
      assert.equal(isoDay(timeMs), new Date(timeMs).toISOString().split('T')[0]);
    }),
    { examples: [[-1], [0], [-86_400_000], [86_399_999]], numRuns: 20_000 },
  );
});

test('month ends and leap years are correct', () => {
  for (let year = 1970; year < 2_410; year++) {
    for (const [month, day] of [
      [0, 1],
      [1, 28],
      [1, 29],
      [2, 1],
      [11, 31],
    ] as const) {
      const timeMs = Date.UTC(year, month, day, 23, 59, 59, 999);
      assert.equal(isoTime(timeMs), new Date(timeMs).toISOString());
    }
  }
});
