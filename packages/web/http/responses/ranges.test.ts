import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rangeOf } from './ranges.ts';

test('a range must lie within the file', () => {
  const sizeBytes = 10;
  const cases: [string | undefined, ReturnType<typeof rangeOf>][] = [
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=2-5', { start: 2, end: 5 }],
    ['Bytes= 2-5 ', { start: 2, end: 5 }],
    ['bytes=9-', { start: 9, end: 9 }],
    ['bytes=2-99999999999999999999', { start: 2, end: 9 }],
    ['bytes=-4', { start: 6, end: 9 }],
    ['bytes=-40', { start: 0, end: 9 }],
    ['bytes=10-', 'outside'],
    ['bytes=10-12', 'outside'],
    ['bytes=-0', 'outside'],
    ['bytes=-00', 'outside'],
    ['bytes=5-2', undefined],
    ['bytes=0-1,3-4', undefined],
    ['bytes=-', undefined],
    ['bytes=1e1-', undefined],
    ['bytes', undefined],
    ['lines=0-1', undefined],
    ['', undefined],
    [undefined, undefined],
  ];
  for (const [header, range] of cases) assert.deepEqual(rangeOf(header, sizeBytes), range, String(header));
});
