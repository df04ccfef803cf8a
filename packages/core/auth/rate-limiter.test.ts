import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RateLimiter } from './rate-limiter.ts';

const windowMs = 1_000;

describe('a rate limiter', () => {
  test('never admits more than the limit within any span of the window', () => {
    const request = fc.record({ key: fc.constantFrom('alice', 'bob'), afterMs: fc.nat(400) });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 60 }), (requests) => {
        const limiter = new RateLimiter({ requestsMax: 3, windowMs, keysMax: 10 });
        const admitted: { key: string; atMs: number }[] = [];
        let nowMs = 0;
        for (const { key, afterMs } of requests) {
          nowMs += afterMs;
          const counted = admitted.filter((each) => each.key === key && each.atMs > nowMs - windowMs);
          const { isAllowed, remaining, resetSeconds } = limiter.take(key, nowMs);
          assert.equal(isAllowed, counted.length < 3);
          if (isAllowed) admitted.push({ key, atMs: nowMs });
          assert.equal(remaining, 3 - counted.length - (isAllowed ? 1 : 0));
          assert.equal(resetSeconds, 1);
        }
      }),
    );
  });

  test('a rejected client is admitted exactly when its oldest request leaves the window', () => {
    const limiter = new RateLimiter({ requestsMax: 2, windowMs, keysMax: 10 });
    limiter.take('alice', 0);
    limiter.take('alice', 300);
    assert.equal(limiter.take('alice', 999).isAllowed, false);
    assert.equal(limiter.take('alice', 1_000).isAllowed, true);
    assert.equal(limiter.take('alice', 1_001).isAllowed, false);
  });

  test('look does not count, and giveBack undoes a count', () => {
    const limiter = new RateLimiter({ requestsMax: 2, windowMs: 1_000, keysMax: 10 });
    for (let look = 0; look < 5; look++)
      assert.deepEqual(limiter.look('a', 0), { isAllowed: true, remaining: 2, resetSeconds: 1 });
    assert.equal(limiter.size, 0);
    limiter.take('a', 0);
    limiter.take('a', 10);
    assert.deepEqual([limiter.look('a', 20).isAllowed, limiter.take('a', 20).isAllowed], [false, false]);
    limiter.giveBack('a', 10);
    limiter.giveBack('a', 10);
    limiter.giveBack('b', 10);
    assert.deepEqual([limiter.take('a', 30).isAllowed, limiter.take('a', 30).isAllowed], [true, false]);
    limiter.giveBack('a', 30);
    limiter.giveBack('a', 0);
    assert.equal(limiter.size, 0);
  });

  test('beyond the limit of keys, the one idle longest is dropped', () => {
    const keysMax = 100_000;
    const limiter = new RateLimiter({ requestsMax: 2, windowMs, keysMax });
    for (let client = 0; client < keysMax; client++) limiter.take(`client ${client}`, 0);
    limiter.take('client 0', 1);
    limiter.take('one more', 2);
    assert.equal(limiter.size, keysMax);
    assert.equal(limiter.take('client 0', 3).isAllowed, false);
    assert.equal(limiter.take('client 1', 3).remaining, 1);
    assert.equal(limiter.size, keysMax);
  });

  test('requests remove keys without a request in the window, some at a time', () => {
    const limiter = new RateLimiter({ requestsMax: 2, windowMs, keysMax: 1_000 });
    limiter.take('alice', 0);
    limiter.take('bob', 500);
    limiter.take('charlie', 1_000);
    assert.equal(limiter.size, 2);
    limiter.take('charlie', 1_500);
    assert.equal(limiter.size, 1);
    for (let client = 0; client < 100; client++) limiter.take(`client ${client}`, 1_600);
    limiter.take('charlie', 3_000);
    assert.ok(limiter.size > 50, `${limiter.size}`);
    for (let request = 0; request < 12; request++) limiter.take('charlie', 3_001);
    assert.equal(limiter.size, 1);
  });
});
