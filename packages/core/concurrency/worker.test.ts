import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestTasks } from '@octavo/testing';
import { testFolder } from '@octavo/testing';
import { WorkerPool, type WorkerPoolOptions } from './worker.ts';

const taskModule = new URL('../../testing/worker-tasks.ts', import.meta.url);

test('a call gives what the task returns, and its input may move to the thread', async () => {
  await using pool = openPool();
  assert.equal(pool.threadCount, 0);
  assert.deepEqual(await Promise.all([1, 2, 3].map((value) => pool.run('double', value))), [2, 4, 6]);
  const bytes = new Uint8Array(1_000);
  assert.equal(await pool.run('size', bytes, { transfer: [bytes.buffer] }), 1_000);
  assert.equal(bytes.length, 0);
  assert.equal(pool.threadCount, 1);
});

test('a call that waits on the thread delays no other, and threads start while all are busy', async () => {
  await using pool = openPool({ threadsMax: 2 });
  const slow = pool.run('later', { value: 'slow', ms: 200 });
  const blocked = pool.run('block', 200);
  assert.equal(pool.threadCount, 2);
  const order = [slow.then(() => 'slow'), pool.run('double', 1).then(() => 'quick')];
  assert.equal(await Promise.race(order), 'quick');
  assert.equal(pool.threadCount, 2);
  await Promise.all([slow, blocked]);
});

test('errors arrive with code and fields, and foreign ones as plain errors', async () => {
  await using pool = openPool();
  await assert.rejects(pool.run('fail', 'conflict'), {
    name: 'AppError',
    code: 'conflict',
    message: 'that is taken',
    fields: { name: 'is taken' },
    reason: 'TAKEN',
    retryAfterSeconds: 2,
  });
  await assert.rejects(pool.run('fail', 'foreign'), (error: Error) => {
    assert.match(String(error.stack), /a fault of ours\n.*worker-tasks\.ts/);
    return error.name === 'Error' && !('code' in error);
  });
  await assert.rejects(pool.run('fail', 'uncloneable'), /could not be cloned/);
  await assert.rejects(pool.run('double', (() => {}) as never), /could not be cloned/);
  assert.equal(await pool.run('double', 4), 8);
});

test('a stream gives its items in order, and streams on one thread take turns', async () => {
  await using pool = openPool();
  const [some, none] = await Promise.all([
    Array.fromAsync(pool.stream('count', 5)),
    Array.fromAsync(pool.stream('count', 0)),
  ]);
  assert.deepEqual([some, none], [[1, 2, 3, 4, 5], []]);
  const long = pool.stream('count', 1_000_000);
  await long.next();
  assert.equal((await Array.fromAsync(pool.stream('count', 100))).length, 100);
  assert.deepEqual(await long.next(), { done: false, value: 2 });
  await long.return(undefined);
});

test('a stream computes one item ahead of its consumer and ends when the consumer stops', async () => {
  await using pool = openPool();
  for await (const number of pool.stream('countSlowly', 'stopped')) if (number === 3) break;
  const abort = new AbortController();
  const stream = pool.stream('countSlowly', 'aborted', { signal: abort.signal });
  await stream.next();
  abort.abort(new Error('the client is gone'));
  await assert.rejects(stream.next(), /the client is gone/);
  assert.deepEqual(await pool.run('canceled', undefined), ['stopped', 'aborted']);
});

test('an aborted call rejects at once and its task sees the signal', async () => {
  await using pool = openPool();
  const abort = new AbortController();
  const run = pool.run('untilAborted', 'run', { signal: abort.signal });
  await pool.run('double', 1);
  abort.abort(new Error('given up'));
  await assert.rejects(run, /given up/);
  assert.deepEqual(await pool.run('canceled', undefined), ['run']);
  await assert.rejects(pool.run('double', 1, { signal: AbortSignal.abort(new Error('before')) }), /before/);
});

test('calls that are aborted while they wait behind another are never computed', async () => {
  await using pool = openPool();
  const blocked = pool.run('block', 300);
  const waiting = [1, 2, 3].map(() => pool.run('block', 60_000, { signal: AbortSignal.timeout(100) }));
  for (const { status } of await Promise.allSettled(waiting)) assert.equal(status, 'rejected');
  await blocked;
  assert.equal(await pool.run('double', 1), 2);
});

test('a thread that is aborted in a synchronous step can be terminated, and the next call starts another', async () => {
  await using pool = openPool({ terminateOnAbort: true });
  const abort = new AbortController();
  const started = new Int32Array(new SharedArrayBuffer(4));
  const endless = pool.run('blockForEver', started, { signal: abort.signal });
  await Atomics.waitAsync(started, 0, 0).value;
  abort.abort(new Error('given up'));
  await assert.rejects(endless, /given up/);
  assert.equal(pool.threadCount, 0);
  assert.equal(await pool.run('double', 1), 2);
});

test('a thread that dies rejects its calls, and the next call starts another', async () => {
  await using pool = openPool({ resourceLimits: { maxOldGenerationSizeMb: 16 } });
  const stream = pool.stream('count', 10);
  await stream.next();
  const calls = [pool.run('untilAborted', 'lost'), pool.run('fail', 'exit')];
  for (const result of await Promise.allSettled(calls)) assert.equal(result.status, 'rejected');
  await assert.rejects(Array.fromAsync(stream), /the test thread ended/);
  await assert.rejects(pool.run('exhaust', undefined), { code: 'ERR_WORKER_OUT_OF_MEMORY' });
  assert.equal(await pool.run('double', 1), 2);
});

test('a module that cannot start rejects its calls with the reason', async () => {
  const failing = `class AppError extends Error { name = 'AppError'; code = 'unavailable'; fields = {} }
    throw new AppError('the file is locked');`;
  await using pool = new WorkerPool<TestTasks>(
    new URL(`data:text/javascript,${encodeURIComponent(failing)}`),
    {
      name: 'test',
    },
  );
  await assert.rejects(pool.run('double', 1), { name: 'AppError', code: 'unavailable' });
});

test('a thread without calls ends after its idle time and closes what it has open', async () => {
  for (const idleMs of [0, 30]) {
    const closedFile = join(testFolder('worker'), 'closed');
    await using pool = openPool({ idleMs, workerData: { closedFile } });
    const both = [
      pool.run('later', { value: 'longer', ms: 60 }),
      pool.run('later', { value: 'shorter', ms: 1 }),
    ];
    assert.deepEqual(await Promise.all(both), ['longer', 'shorter']);
    while (pool.threadCount > 0) await delay(5);
    assert.equal(await pool.run('double', 3), 6);
    await pool[Symbol.asyncDispose]();
    assert.equal(readFileSync(closedFile, 'utf8'), '');
  }
});

test('disposing lets runs end, rejects streams and takes no more calls', async () => {
  const closedFile = join(testFolder('worker'), 'closed');
  const pool = openPool({ workerData: { closedFile } });
  const stream = pool.stream('countSlowly', 'stream');
  await stream.next();
  const runs = [pool.run('later', { value: 'done', ms: 50 }), pool.run('untilAborted', 'run')];
  // They have begun when a later call has been answered.
  await pool.run('double', 1);
  await pool[Symbol.asyncDispose]();
  assert.deepEqual(await Promise.all(runs), ['done', undefined]);
  await assert.rejects(Array.fromAsync(stream), /the test threads are closed/);
  await assert.rejects(pool.run('double', 1), /the test threads are closed/);
  assert.equal(readFileSync(closedFile, 'utf8'), 'run,stream');
  await pool[Symbol.asyncDispose]();
});

test('disposing takes a bounded time whatever a thread computes', { timeout: 60_000 }, async () => {
  const pool = openPool();
  const started = new Int32Array(new SharedArrayBuffer(4));
  const endless = assert.rejects(pool.run('blockForEver', started), /the test thread ended/);
  await Atomics.waitAsync(started, 0, 0).value;
  await pool[Symbol.asyncDispose]();
  await endless;
});

test('threads keep the process alive only while a caller waits and while they are ended', () => {
  assert.equal(runProgram(`console.log(await pool.run('later', { value: 'done', ms: 100 }));`), 'done\n');
  assert.equal(
    runProgram(`
      const stream = pool.stream('count', 10);
      console.log((await stream.next()).value, (await stream.next()).value);
    `),
    '1 2\n',
  );
  const aborted = `await pool.run('block', 300, { signal: AbortSignal.timeout(50) }).catch(() => {});`;
  assert.equal(runProgram(`${aborted} await pool[Symbol.asyncDispose](); console.log('ended');`), 'ended\n');
});

function openPool(options: Partial<WorkerPoolOptions> = {}): WorkerPool<TestTasks> {
  return new WorkerPool<TestTasks>(taskModule, { name: 'test', ...options });
}

/** Returns the output of a program with a pool. Throws unless it exits with 0. */
function runProgram(program: string): string {
  const file = join(testFolder('worker'), 'program.mjs');
  const setUp = `
    import { WorkerPool } from ${JSON.stringify(new URL('./worker.ts', import.meta.url))};
    const pool = new WorkerPool(new URL(${JSON.stringify(taskModule)}), { name: 'test' });
  `;
  writeFileSync(file, setUp + program);
  return execFileSync(process.execPath, [file], { encoding: 'utf8', timeout: 20_000 });
}
