import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeCursor, encodeCursor } from './cursor.ts';

test('cursors hold places of any kind, and nothing else', () => {
  const place = ['2026-01-31', 12.5, 3];
  assert.deepEqual(decodeCursor(encodeCursor(place), ['string', 'number', 'integer']), place);
  assert.deepEqual(decodeCursor(undefined, ['string']), []);
  for (const wrong of [[1.5], ['x'], [1, 2], [], ['\0'], ['\ud800']]) {
    assert.throws(() => decodeCursor(encodeCursor(wrong), ['integer']), { code: 'invalid_input' });
    const isText = wrong.length === 1 && wrong[0] === 'x';
    if (!isText)
      assert.throws(() => decodeCursor(encodeCursor(wrong), ['string']), { code: 'invalid_input' });
  }
});
