import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayOrderOf, ordersOf, readDay } from './days.ts';

const today = new Date('2026-06-01T00:00:00Z');

test('a day is read as people and banks write it', () => {
  const days = [
    ['20251224', '2025-12-24'],
    ['20251224093000[-5:EST]', '2025-12-24'],
    ['24 DEC 2025', '2025-12-24'],
    ['24-Dec-25', '2025-12-24'],
    ['Dec 24, 2025', '2025-12-24'],
    ['24. Dezember 2025', '2025-12-24'],
    ['24 déc. 2025', '2025-12-24'],
    ['24 de diciembre de 2025', undefined],
    ['2025.12.24.', '2025-12-24'],
    ['2025年12月24日', '2025-12-24'],
    ['2025-12-24T10:00:00+01:00', '2025-12-24'],
    ['2025-02-30', undefined],
    ['-4.20', undefined],
    ['1.234,50', undefined],
    ['', undefined],
  ] as const;
  for (const [text, day] of days) assert.equal(readDay(text, 'ymd', today), day, text);
  assert.equal(readDay('24/12/2025 10:15', 'dmy', today), '2025-12-24');
  assert.equal(readDay("12/ 4' 8", 'mdy', today), '2008-12-04');
});

test('a year of two digits is the nearest to today that is not far ahead', () => {
  for (const [text, year] of [
    ['1/2/98', 1998],
    ['1/2/46', 2046],
    ['1/2/47', 1947],
    ['1/2/07', 2007],
  ] as const)
    assert.equal(readDay(text, 'dmy', today), `${year}-02-01`);
});

test('a text tells the orders in which it is a day', () => {
  assert.deepEqual(ordersOf('13/04/2026', today), ['dmy']);
  assert.deepEqual(ordersOf('04/13/2026', today), ['mdy']);
  assert.deepEqual(ordersOf('04/03/2026', today), ['mdy', 'dmy']);
  assert.equal(dayOrderOf('en-GB'), 'dmy');
  assert.equal(dayOrderOf('en-US'), 'mdy');
  assert.equal(dayOrderOf('ja'), 'ymd');
  assert.equal(dayOrderOf('en'), undefined);
});
