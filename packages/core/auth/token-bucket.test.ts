import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenBucket } from './token-bucket.ts';

test('a key may make a burst of requests, and then as many as its tokens come back', () => {
  const bucket = new TokenBucket({ burst: 3, perMinute: 60, keysMax: 10 });
  assert.deepEqual(
    [0, 0, 0, 0].map((nowMs) => bucket.take('alice', nowMs).isAllowed),
    [true, true, true, false],
  );
  assert.deepEqual(bucket.look('alice', 400), { isAllowed: false, remaining: 0, resetSeconds: 1 });
  assert.equal(bucket.take('alice', 1_000).isAllowed, true);
  assert.equal(bucket.take('alice', 1_500).isAllowed, false);
  assert.equal(bucket.take('bob', 1_500).remaining, 2);
});

test('a full bucket holds no more than the burst, and is forgotten', () => {
  const bucket = new TokenBucket({ burst: 2, perMinute: 6, keysMax: 2 });
  for (const key of ['alice', 'bob', 'charlie']) bucket.take(key, 0);
  assert.equal(bucket.size, 2);
  bucket.take('charlie', 19_999);
  assert.equal(bucket.size, 2);
  bucket.take('alice', 20_000);
  assert.equal(bucket.size, 2);
  assert.equal(bucket.take('alice', 3_600_000).remaining, 1);
  assert.equal(bucket.size, 1);
});

test('the seconds to wait are enough', () => {
  const bucket = new TokenBucket({ burst: 1, perMinute: 10, keysMax: 2 });
  bucket.take('alice', 0);
  const { resetSeconds } = bucket.take('alice', 1_000);
  assert.equal(resetSeconds, 5);
  assert.equal(bucket.take('alice', 1_000 + resetSeconds * 1_000).isAllowed, true);
});
