import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Notifier } from './notifier.ts';

test('a notification wakes all that wait', async () => {
  const notifier = new Notifier();
  const waiting = Promise.all([notifier.wait(), notifier.wait(60_000), notifier.wait()]);
  notifier.notify();
  assert.deepEqual(await waiting, [true, true, true]);
  assert.equal(await notifier.wait(1), false);
});

test('a notification without a waiter is kept once', async () => {
  const notifier = new Notifier();
  notifier.notify();
  notifier.notify();
  assert.equal(await notifier.wait(), true);
  assert.equal(await notifier.wait(1), false);
});

test('a signal ends the wait, and nothing is left of it', async () => {
  const notifier = new Notifier();
  const stop = new AbortController();
  const waiting = notifier.wait(60_000, stop.signal);
  stop.abort();
  assert.equal(await waiting, true);
  assert.equal(await notifier.wait(60_000, stop.signal), true);
  notifier.notify();
  assert.equal(await notifier.wait(), true);
});
