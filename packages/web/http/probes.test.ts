import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@octavo/core';
import { startTestServer } from './testing.ts';

describe('health', () => {
  test('says that the process answers', async () => {
    await using server = await startTestServer(() => undefined);
    const { status, json } = await server.send('/health');
    assert.deepEqual([status, json], [200, { status: 'ok' }]);
  });
});

describe('readiness', () => {
  test('names every check', async () => {
    await using server = await startTestServer(() => undefined, {
      checks: { database: async () => undefined, queue: async () => undefined },
    });
    const { status, json } = await server.send('/readiness');
    assert.deepEqual([status, json], [200, { status: 'ready', checks: { database: 'ok', queue: 'ok' } }]);
  });

  test('is 503 and says which fails, in our words only', async () => {
    await using server = await startTestServer(() => undefined, {
      checks: {
        database: async () => undefined,
        broker: async () => {
          throw new AppError('unavailable', 'no connection to the broker');
        },
        store: async () => {
          throw new Error('ECONNREFUSED 10.1.2.3:5432 password=hunter2');
        },
      },
    });
    const { status, json } = await server.send('/readiness');
    assert.equal(status, 503);
    assert.deepEqual(json, {
      status: 'not_ready',
      checks: {
        database: 'ok',
        broker: 'failing: no connection to the broker',
        store: 'failing: does not respond',
      },
    });
    assert.match(JSON.stringify(server.log), /hunter2/);
  });

  test('answers though a check never does, and starts that check once', async () => {
    let runs = 0;
    let aborted = false;
    const hang = (signal: AbortSignal) => {
      runs++;
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return new Promise<void>(() => undefined);
    };
    await using server = await startTestServer(() => undefined, { checks: { database: hang } });
    const { status, json } = await server.send('/readiness');
    assert.deepEqual(
      [status, json],
      [503, { status: 'not_ready', checks: { database: 'failing: no answer within 400 ms' } }],
    );
    await sleep(700);
    assert.equal((await server.send('/readiness')).status, 503);
    assert.deepEqual([runs, aborted], [1, true]);
  });

  test('runs a check at most once a second, also for many who ask at once', async (context) => {
    let nowMs = performance.now();
    context.mock.method(performance, 'now', () => nowMs);
    let runs = 0;
    let isWell = true;
    const check = async () => {
      runs++;
      if (!isWell) throw new AppError('unavailable', 'gone');
    };
    await using server = await startTestServer(() => undefined, { checks: { database: check } });
    await Promise.all(Array.from({ length: 20 }, () => server.send('/readiness')));
    isWell = false;
    assert.equal((await server.send('/readiness')).status, 200);
    assert.equal(runs, 1);
    nowMs += 1_001;
    assert.equal((await server.send('/readiness')).status, 503);
    isWell = true;
    nowMs += 1_001;
    assert.equal((await server.send('/readiness')).status, 200);
    assert.equal(runs, 3);
  });
});
