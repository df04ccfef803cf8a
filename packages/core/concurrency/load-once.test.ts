import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadOnce } from './load-once.ts';

test('a value is loaded once, and a failure is tried again', async () => {
  let calls = 0;
  const load = loadOnce(async () => {
    calls++;
    if (calls === 1) throw new Error('too many open files');
    return { calls };
  });
  const first = await Promise.allSettled([load(), load()]);
  assert.deepEqual(
    first.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  const loaded = await load();
  assert.deepEqual(loaded, { calls: 2 });
  assert.equal(await load(), loaded);
});
