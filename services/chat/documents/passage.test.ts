import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeOf } from './passage.ts';

test('a passage is found again where a document was read in another way', () => {
  const text = 'The gate is red.\n\nNew: the gate is 30 m wide. It is old.\nThe gate is red.';
  const quoted = (start: number, quote: string) => {
    const place = placeOf(text, { start, end: start + quote.length }, quote);
    return place && [place.start, text.slice(place.start, place.end)];
  };
  assert.deepEqual(quoted(0, 'The gate is red.'), [0, 'The gate is red.'], 'where it was');
  assert.deepEqual(quoted(2, 'The gate is red.'), [0, 'The gate is red'], 'the nearest one');
  assert.deepEqual(quoted(50, 'The gate is red.'), [57, 'The gate is red']);
  assert.deepEqual(quoted(0, 'gate  is 30 m\nwide'), [27, 'gate is 30 m wide'], 'other white space');
  assert.equal(quoted(0, 'The gate is blue.'), undefined);
  assert.equal(quoted(0, '…'), undefined);
  assert.equal(quoted(900, 'The gate is red.')?.[0], 57, 'a text that got shorter');
});
