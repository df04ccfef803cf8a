import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cacheBytes, measureCache } from './caches.ts';

test('caches of one name are added up as they are now', () => {
  const [one, two] = [new Map([['a', 1]]), new Map<string, number>()];
  for (const cache of [one, two]) measureCache('numbers', cache, ({ size }) => size * 8);
  assert.equal(cacheBytes().get('numbers'), 8);
  two.set('b', 2).set('c', 3);
  assert.equal(cacheBytes().get('numbers'), 24);
  assert.equal(one.size, 1);
});
