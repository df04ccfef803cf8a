import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { Registry } from 'prom-client';
import { WatchedValues } from './watched-values.ts';

function start(values: Map<number, number>, watchersMax = 10) {
  const reads: (readonly number[])[] = [];
  const live = new WatchedValues({
    everyMs: 5,
    watchersMax,
    metrics: new Registry(),
    gauge: 'watchers',
    log: silentLog,
    async read(keys) {
      reads.push(keys);
      return new Map(values);
    },
  });
  return { live, reads };
}

test('every watcher gets the value and its changes, from one read for all', async () => {
  const values = new Map([
    [1, 10],
    [2, 20],
  ]);
  const { live, reads } = start(values);
  using _ = live;
  const watchers = [live.watch(1), live.watch(1), live.watch(2)];
  const next = () => Promise.all(watchers.map(async (watcher) => (await watcher.next()).value));
  assert.deepEqual(await next(), [10, 10, 20]);
  const changed = next();
  values.set(1, 11).set(2, 21);
  assert.deepEqual(await changed, [11, 11, 21]);
  assert.ok(reads.every((keys) => keys.length <= 2));
  await Promise.all(watchers.map((watcher) => watcher.return()));
});

test('a watch ends when its key is gone and when the values are disposed of', async () => {
  const values = new Map([[1, 10]]);
  const { live } = start(values);
  const [gone, stopped] = [live.watch(2), live.watch(1)];
  assert.deepEqual(await gone.next(), { value: undefined, done: true });
  assert.equal((await stopped.next()).value, 10);
  const last = stopped.next();
  live[Symbol.dispose]();
  assert.equal((await last).done, true);
});

test('nothing is read without watchers, and watchers are limited', async () => {
  const { live, reads } = start(new Map([[1, 10]]), 1);
  using _ = live;
  const watcher = live.watch(1);
  await watcher.next();
  await assert.rejects(live.watch(1).next(), { code: 'unavailable' });
  await watcher.return();
  const before = reads.length;
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.ok(reads.length <= before + 1);
  assert.equal((await live.watch(1).next()).value, 10);
});
