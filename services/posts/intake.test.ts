import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '#kit/clock.ts';
import { silentLog } from '#kit/log.ts';
import { testFolder } from '#kit/testing/folder.ts';
import { openPostDatabase } from './database.ts';
import { Intake } from './intake.ts';
import { reserveIds } from './store.ts';

const folder = testFolder('intake');
const { signal } = new AbortController();

test('what came in waits while many posts come in, and no longer than three seconds', async () => {
  await using database = await openPostDatabase({ url: undefined, folder, log: silentLog });
  const clock = systemClock;
  const intake = new Intake({ database, clock });
  await intake.ebb(clock.now(), signal);

  const flood = startFlood();
  await delay(100);
  await intake.ebb(clock.now() - 3_000, signal);
  assert.equal(flood.isOver, false);
  const waiting = intake.ebb(clock.now(), signal);
  await delay(500);
  assert.equal(await Promise.race([waiting.then(() => 'passed'), delay(1, 'waits')]), 'waits');
  await flood.stop();
  await waiting;

  await using endless = startFlood();
  await delay(100);
  await intake.ebb(clock.now(), signal);
  assert.equal(endless.isOver, false);

  function startFlood() {
    let isOver = false;
    const flowing = (async () => {
      while (!isOver) {
        await database.write((session) =>
          reserveIds(session, { posts: 1_000, characters: 0, nowMs: clock.now() }),
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
