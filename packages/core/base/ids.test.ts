import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newOrderedId } from './ids.ts';

test('ordered ids are different UUIDs of version 7 that rise', () => {
  const ids = Array.from({ length: 20_000 }, newOrderedId);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual(ids, ids.toSorted());
  for (const id of ids)
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
