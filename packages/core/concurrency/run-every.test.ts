import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createLog, silentLog } from '../base/log.ts';
import { runEvery } from './run-every.ts';

test('a tick during a run is skipped, and asynchronous disposal waits for the run', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const runs: PromiseWithResolvers<void>[] = [];
  const repeated = runEvery(1_000, () => {
    const run = Promise.withResolvers<void>();
    runs.push(run);
    return run.promise;
  });
  t.mock.timers.tick(999);
  assert.equal(runs.length, 0);
  t.mock.timers.tick(5_001);
  assert.equal(runs.length, 1);
  runs[0]?.resolve();
  await setImmediate();
  t.mock.timers.tick(1_000);
  assert.equal(runs.length, 2);
  let isDisposed = false;
  const disposed = repeated[Symbol.asyncDispose]().then(() => {
    isDisposed = true;
  });
  await setImmediate();
  assert.equal(isDisposed, false);
  runs[1]?.resolve();
  await disposed;
  t.mock.timers.tick(5_000);
  assert.equal(runs.length, 2);
});

test('a run that fails is logged, however it fails, and the next one comes as usual', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const lines: string[] = [];
  const log = createLog({ service: 'test', destination: { write: (line) => void lines.push(line) } });
  let runs = 0;
  using _repeated = runEvery(
    1_000,
    () => {
      runs++;
      if (runs === 1) throw new Error('at once');
      return Promise.reject(new Error('later'));
    },
    { log, failure: 'rows were not deleted', startsNow: true },
  );
  assert.equal(runs, 1);
  await setImmediate();
  t.mock.timers.tick(1_000);
  await setImmediate();
  t.mock.timers.tick(1_000);
  assert.equal(runs, 3);
  const [first, second] = lines.map((line) => JSON.parse(line));
  assert.deepEqual([first.msg, first.err.message], ['rows were not deleted', 'at once']);
  assert.equal(second.err.message, 'later');
});

test('synchronous disposal stops the timer without waiting', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let runs = 0;
  {
    using _repeated = runEvery(10, () => runs++, { log: silentLog });
    t.mock.timers.tick(30);
  }
  t.mock.timers.tick(100);
  assert.equal(runs, 1);
});
