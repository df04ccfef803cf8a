import { pbkdf2Sync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { AppError } from '@octavo/core';
import { serveTasks, type TaskContext } from '@octavo/core/concurrency';

// The worker module for the tests of `WorkerPool`.

const canceled: string[] = [];

const tasks = {
  double: (value: number) => value * 2,
  later: async ({ value, ms }: { value: string; ms: number }) => {
    await delay(ms);
    return value;
  },
  fail: (code: 'conflict' | 'foreign' | 'exit' | 'uncloneable') => {
    if (code === 'conflict') {
      throw new AppError('conflict', 'that is taken', {
        fields: { name: 'is taken' },
        reason: 'TAKEN',
        retryAfterSeconds: 2,
        cause: new Error('the cause'),
      });
    }
    if (code === 'foreign') throw new TypeError('a fault of ours');
    if (code === 'exit') process.exit(3);
    return () => {};
  },
  count: function* (last: number) {
    for (let number = 1; number <= last; number++) yield number;
  },
  countSlowly: async function* (name: string, { signal }: TaskContext) {
    try {
      for (let number = 1; !signal.aborted; number++) yield number;
    } finally {
      canceled.push(name);
    }
  },
  untilAborted: async (name: string, { signal }: TaskContext) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    canceled.push(name);
  },
  canceled: () => canceled,
  size: (bytes: Uint8Array) => bytes.length,
  /** Computes in one step that cannot be interrupted. */
  block: (ms: number) => {
    const endMs = performance.now() + ms;
    while (performance.now() < endMs) pbkdf2Sync('password', 'salt', 10_000, 32, 'sha256');
  },
  blockForEver: (started: Int32Array<SharedArrayBuffer>) => {
    Atomics.store(started, 0, 1);
    Atomics.notify(started, 0);
    for (;;) pbkdf2Sync('password', 'salt', 10_000, 32, 'sha256');
  },
  exhaust: () => {
    const kept = [];
    for (;;) kept.push({ text: String(kept.length) });
  },
};

export type TestTasks = typeof tasks;

serveTasks(tasks, {
  close: () => {
    const { closedFile } = (workerData ?? {}) as { closedFile?: string };
    if (closedFile) writeFileSync(closedFile, canceled.join());
  },
});
