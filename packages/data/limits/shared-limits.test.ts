import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FakeClock } from '@octavo/core';
import { RateLimiter } from '@octavo/core/auth';
import { silentLog } from '@octavo/core/log';
import { testFolder } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import fc from 'fast-check';
import { type Database, openDatabase } from '../db/index.ts';
import { SharedLimits, SharedRateLimiter } from './shared-limits.ts';
import { type LimitTables, limitMigrations, sweepCounts } from './store.ts';

const windowMs = 1_000;
const startMs = 1_000_000;
const postgres = await testDatabaseUrl();

describe('shared limits on SQLite', () => contract(undefined));
describe('shared limits on PostgreSQL', { skip: postgres.skip }, () => contract(postgres.url));

function contract(url: string | undefined): void {
  const folder = testFolder('limits');
  const open = (): Promise<Database<LimitTables>> =>
    openDatabase({ name: 'limits', url, folder, migrations: [limitMigrations], log: silentLog });
  const limiterOf = (database: Database<LimitTables>, name: string, requestsMax: number) =>
    new SharedRateLimiter(database, { name, requestsMax, windowMs });

  test('decide as a limiter in memory does, whatever process is asked', async () => {
    await using one = await open();
    await using other = await open();
    let run = 0;
    const request = fc.record({
      key: fc.constantFrom('alice', 'bob'),
      afterMs: fc.nat(400),
      isElsewhere: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 20 }), async (requests) => {
        const name = `run ${run++}`;
        const [here, there] = [limiterOf(one, name, 3), limiterOf(other, name, 3)];
        const inMemory = new RateLimiter({ requestsMax: 3, windowMs, keysMax: 10 });
        let nowMs = startMs;
        for (const { key, afterMs, isElsewhere } of requests) {
          nowMs += afterMs;
          const verdict = await (isElsewhere ? there : here).take(key, nowMs);
          assert.deepEqual(verdict, inMemory.take(key, nowMs));
        }
      }),
      { numRuns: 25 },
    );
  });

  test('admit exactly as many of those that come at once to two processes', async () => {
    await using one = await open();
    await using other = await open();
    const limiters = [limiterOf(one, 'at once', 5), limiterOf(other, 'at once', 5)];
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, index) => limiters[index % 2]?.take('alice', startMs)),
    );
    assert.equal(taken.filter((verdict) => verdict?.isAllowed).length, 5);
  });

  test('admit a rejected client exactly when its oldest request leaves the window', async () => {
    await using database = await open();
    const limiter = limiterOf(database, 'window', 2);
    const isAllowed = async (afterMs: number) => (await limiter.take('alice', startMs + afterMs)).isAllowed;
    for (const [afterMs, expected] of [
      [0, true],
      [300, true],
      [999, false],
      [1_000, true],
      [1_001, false],
      [1_300, true],
    ] as const)
      assert.equal(await isAllowed(afterMs), expected, `after ${afterMs} ms`);
  });

  test('give back one request of that time, and nothing that is not there', async () => {
    await using database = await open();
    const limiter = limiterOf(database, 'back', 2);
    const take = async () => (await limiter.take('alice', startMs)).isAllowed;
    assert.deepEqual([await take(), await take(), await take()], [true, true, false]);
    await limiter.giveBack('alice', startMs + 1);
    await limiter.giveBack('bob', startMs);
    assert.equal(await take(), false);
    await limiter.giveBack('alice', startMs);
    assert.deepEqual([await take(), await take()], [true, false]);
  });

  test('store no client as it is, forget what is over, and are absent when off', async () => {
    await using database = await open();
    const clock = new FakeClock(startMs);
    await using limits = new SharedLimits({ database, clock, log: silentLog });
    assert.deepEqual(limits.named('off', 0, windowMs), []);
    const [limit] = limits.named('swept', 1, windowMs);
    await sweepCounts(database, startMs + 10 * windowMs);
    await limit?.limiter.take('192.0.2.1', startMs);
    const rows = () => database.kysely.selectFrom('rate_limit').selectAll().execute();
    assert.equal((await rows()).length, 1);
    assert.doesNotMatch(JSON.stringify(await rows()), /192\.0\.2/);
    await sweepCounts(database, startMs + windowMs - 1);
    assert.equal((await rows()).length, 1);
    await sweepCounts(database, startMs + windowMs);
    assert.equal((await rows()).length, 0);
  });
}
