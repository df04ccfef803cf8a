import assert from 'node:assert/strict';
import { test } from 'node:test';
import { uptimeText } from './status.ts';

test('a span of time is written with its units', () => {
  const hourMs = 3_600_000;
  const cases: [number, string][] = [
    [0, '0s'],
    [1, '1ms'],
    [999.9, '999ms'],
    [1_000, '1s'],
    [1_500, '1.5s'],
    [60_000, '1m0s'],
    [hourMs, '1h0m0s'],
    [72 * hourMs + 180_500, '72h3m0.5s'],
  ];
  for (const [ms, text] of cases) assert.equal(uptimeText(ms), text);
});
