import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { testFolder } from '@octavo/testing';
import { openPostDatabase } from '../database.ts';
import { addNewPosts, StatisticsDelta } from '../statistics/index.ts';
import { Backpressure } from './backpressure.ts';

const folder = testFolder('backpressure');
const { signal } = new AbortController();

test('the classification of new posts waits while many are created, for three seconds at most', async () => {
  await using database = await openPostDatabase({ url: undefined, folder, log: silentLog });
  const clock = systemClock;
  const backpressure = new Backpressure({ database, clock });
  await backpressure.wait(clock.now(), signal);

  const flood = startFlood();
  await delay(100);
  await backpressure.wait(clock.now() - 3_000, signal);
  assert.equal(flood.isOver, false);
  const waiting = backpressure.wait(clock.now(), signal);
  await delay(500);
  assert.equal(await Promise.race([waiting.then(() => 'passed'), delay(1, 'waits')]), 'waits');
  await flood.stop();
  await waiting;

  await using endless = startFlood();
  await delay(100);
  await backpressure.wait(clock.now(), signal);
  assert.equal(endless.isOver, false);

  function startFlood() {
    let isOver = false;
    const flowing = (async () => {
      while (!isOver) {
        await database.write((session) =>
          addNewPosts(session, Object.assign(new StatisticsDelta(), { posts: 1_000 }), clock.now()),
        );
        await delay(10);
      }
    })();
    const stop = async () => {
      isOver = true;
      await flowing;
    };
    return {
      stop,
      get isOver() {
        return isOver;
      },
      [Symbol.asyncDispose]: stop,
    };
  }
});
