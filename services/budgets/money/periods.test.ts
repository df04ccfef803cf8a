import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daysOf, periodAt } from './periods.ts';

test('days that are left count today', () => {
  const november = periodAt('monthly', '2026-11-28');
  assert.deepEqual(daysOf(november, '2026-11-28'), { left: 3, all: 30 });
  assert.deepEqual(daysOf(november, '2026-11-01'), { left: 30, all: 30 });
  assert.deepEqual(daysOf(november, '2026-11-30'), { left: 1, all: 30 });
  assert.equal(daysOf(november, '2026-12-01'), undefined);
  assert.equal(daysOf(periodAt('none', '2026-11-28'), '2026-11-28'), undefined);
});
