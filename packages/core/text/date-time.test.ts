import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateTimeOf, formatDateTime, parseDateTime } from './date-time.ts';

test('a date-time is an instant in UTC with six decimals', () => {
  for (const [text, instant] of [
    ['2026-01-31T12:00', '2026-01-31T12:00:00.000000Z'],
    ['2026-01-31 12:00:05Z', '2026-01-31T12:00:05.000000Z'],
    ['2026-1-1T9:05:00,5', '2026-01-01T09:05:00.500000Z'],
    ['2026-01-01T00:30:00.1234567+01', '2025-12-31T23:30:00.123456Z'],
    ['2024-02-29T23:59:59-0530', '2024-03-01T05:29:59.000000Z'],
  ] as const)
    assert.equal(parseDateTime(text), instant, text);
  assert.equal(dateTimeOf(1_769_860_800_123), '2026-01-31T12:00:00.123000Z');
  assert.equal(formatDateTime('2026-01-31T12:00:00.000000Z'), '2026-01-31T12:00:00Z');
});

test('an instant that does not exist is refused', () => {
  for (const text of [
    '',
    'now',
    '2026-01-31',
    '2026-02-29T00:00Z',
    '2026-13-01T00:00Z',
    '2026-01-31T24:00Z',
    '2026-01-31T12:60Z',
    '2026-01-31T12:00:60Z',
    '0000-01-01T00:00Z',
    '2026-01-31T12:00+24:00',
    ' 2026-01-31T12:00Z',
  ])
    assert.throws(() => parseDateTime(text), { isOutOfRange: false }, text);
  for (const text of ['0001-01-01T00:00+01:00', '9999-12-31T23:59:59-00:01'])
    assert.throws(() => parseDateTime(text), { isOutOfRange: true }, text);
});
