import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeRefresh, refreshLeewayMs } from './refresh.ts';

const rotatedMs = 1_000_000;
const family = { generation: 5, rotatedMs };

test('the newest token is active, however old it is', () => {
  assert.equal(judgeRefresh(5, family, rotatedMs), 'active');
  assert.equal(judgeRefresh(5, family, rotatedMs + 1e9), 'active');
  assert.equal(judgeRefresh(1, { generation: 1, rotatedMs: undefined }, rotatedMs), 'active');
});

test('its predecessor is a race for ten seconds, then a replay', () => {
  assert.equal(refreshLeewayMs, 10_000);
  assert.equal(judgeRefresh(4, family, rotatedMs), 'race');
  assert.equal(judgeRefresh(4, family, rotatedMs + 10_000), 'race');
  assert.equal(judgeRefresh(4, family, rotatedMs + 10_001), 'replay');
  assert.equal(judgeRefresh(4, family, rotatedMs + 1, 0), 'replay');
});

test('any other generation is a replay at any time', () => {
  for (const generation of [0, 1, 2, 3, 6]) {
    assert.equal(judgeRefresh(generation, family, rotatedMs), 'replay');
  }
});
