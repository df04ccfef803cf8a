import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { AppError } from '../base/errors.ts';
import { Batches } from './batches.ts';

function start() {
  const runs: number[][] = [];
  const batches = new Batches<number, string>({
    itemsMax: 3,
    async run(taken) {
      const items = [...taken];
      runs.push(items);
      await turn();
      if (items.includes(13)) throw new Error('13 is refused');
      if (items.includes(14)) throw new AppError('unavailable', 'The connection was lost.');
      if (items.includes(15)) throw new AppError('timeout', 'The commit was not confirmed.');
      return items.map((item) => `did ${item}`);
    },
  });
  return { batches, runs };
}

test('items that wait share a batch, in order and not too many', async () => {
  const { batches, runs } = start();
  const results = await Promise.all([1, 2, 3, 4, 5].map((item) => batches.add(item)));
  assert.deepEqual(results, ['did 1', 'did 2', 'did 3', 'did 4', 'did 5']);
  assert.deepEqual(runs, [[1], [2, 3, 4], [5]]);
  assert.equal(await batches.add(6), 'did 6');
});

test('one that fails does not fail the others', async () => {
  const { batches, runs } = start();
  const results = await Promise.allSettled([1, 2, 13, 4].map((item) => batches.add(item)));
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(runs, [[1], [2, 13, 4], [2], [13], [4]]);
});

test('a batch that may have been done is not done again', async () => {
  for (const failing of [14, 15]) {
    const { batches, runs } = start();
    const results = await Promise.allSettled([1, 2, failing].map((item) => batches.add(item)));
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected'],
    );
    assert.deepEqual(runs, [[1], [2, failing]]);
  }
});

test('a batch takes what arrives while it runs, leaves what it does not take, and says when nothing is left', async () => {
  const runs: number[][] = [];
  let idle = 0;
  const batches = new Batches<number, number>({
    itemsMax: 4,
    async run(items) {
      const taken: number[] = [];
      runs.push(taken);
      for (const item of items) {
        taken.push(item);
        await turn();
        if (item === 3) break;
      }
      return taken;
    },
    onIdle: () => idle++,
  });
  const added = [1, 2, 3, 4].map((item) => batches.add(item));
  assert.deepEqual(await Promise.all(added), [1, 2, 3, 4]);
  assert.deepEqual(runs, [[1, 2, 3], [4]]);
  assert.equal(idle, 1);
});

test('a batch that fails before it takes an item fails for all that wait', async () => {
  let tries = 0;
  const batches = new Batches<number, number>({
    itemsMax: 2,
    async run() {
      tries++;
      await turn();
      throw new Error('no connection');
    },
  });
  const settled = await Promise.allSettled([1, 2, 3].map((item) => batches.add(item)));
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  assert.equal(tries, 1);
});
