import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { AppError } from '@octavo/core';
import type { WatchResponse } from '@octavo/protocols/testing/v1/testing';
import { handlersWith, rowOf, signalOf, transports } from './testing.ts';

for (const transport of transports) {
  describe(`streams ${transport.name}`, () => {
    test('deliver every message in order', async () => {
      await using joined = await transport.open(handlersWith());
      const messages = await Array.fromAsync(joined.client.watch({ count: 3 }));
      assert.deepEqual(
        messages,
        [0, 1, 2].map((id) => ({ rows: [rowOf(id)] })),
      );
      assert.deepEqual(await Array.fromAsync(joined.client.watch({ count: 0 })), []);
    });

    test('fail after the messages that were sent before, with every part of the error', async () => {
      const fields = { count: 'is too much' };
      await using joined = await transport.open(
        handlersWith({
          async *watch({ count }) {
            for (let id = 0; id < count; id += 1) yield { rows: [rowOf(id)] };
            throw new AppError('conflict', 'not this time', { fields, reason: 'FINE', retryAfterSeconds: 2 });
          },
        }),
      );
      const error = {
        code: 'conflict',
        message: 'not this time',
        fields,
        reason: 'FINE',
        retryAfterSeconds: 2,
      };
      for (const count of [0, 2]) {
        const seen: unknown[] = [];
        await assert.rejects(async () => {
          for await (const message of joined.client.watch({ count })) seen.push(message);
        }, error);
        assert.equal(seen.length, count);
      }
    });

    test('hide what was not meant for the caller', async () => {
      await using joined = await transport.open(
        handlersWith({
          // biome-ignore lint/correctness/useYield: it fails before the first message
          async *watch() {
            throw new Error('password is 1234');
          },
        }),
      );
      await assert.rejects(Array.fromAsync(joined.client.watch({ count: 1 })), (error: AppError) => {
        assert.equal(error.code, 'internal');
        assert.doesNotMatch(error.message + String(error.cause), /1234/);
        return true;
      });
    });

    test('stop the handler when their consumer stops', async () => {
      const ended = signalOf<AbortSignal>();
      await using joined = await transport.open(
        handlersWith({
          async *watch(_request, { signal }) {
            try {
              for (let id = 0; ; id += 1) yield { rows: [rowOf(id)] };
            } finally {
              ended.tell(signal);
            }
          },
        }),
      );
      for await (const { rows } of joined.client.watch({ count: 0 })) {
        if (rows[0]?.id === 5) break;
      }
      const signal = await ended.promise;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });

    test('fail as canceled when their caller cancels, even if the handler hangs', async () => {
      const hanging = signalOf<AbortSignal>();
      await using joined = await transport.open(
        handlersWith({
          async *watch(_request, { signal }): AsyncGenerator<WatchResponse> {
            yield { rows: [] };
            hanging.tell(signal);
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
          },
        }),
      );
      const caller = new AbortController();
      const reading = Array.fromAsync(joined.client.watch({ count: 0 }, { signal: caller.signal }));
      const signal = await hanging.promise;
      caller.abort();
      await assert.rejects(reading, { code: 'canceled' });
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      const late = joined.client.watch({ count: 0 }, { signal: caller.signal });
      await assert.rejects(Array.fromAsync(late), { code: 'canceled' });
    });

    test('fail as timeout when the deadline of the whole stream passes', async () => {
      await using joined = await transport.open(
        handlersWith({
          async *watch() {
            for (;;) {
              yield { rows: [rowOf(1)] };
              await wait(5);
            }
          },
        }),
      );
      const reading = Array.fromAsync(joined.client.watch({ count: 0 }, { timeoutMs: 60 }));
      await assert.rejects(reading, { code: 'timeout' });
    });

    test('fail as timeout when the handler sends nothing for too long', async () => {
      const aborted = signalOf<void>();
      await using joined = await transport.open(
        handlersWith({
          async *watch(_request, { signal }): AsyncGenerator<WatchResponse> {
            yield { rows: [] };
            signal.addEventListener('abort', () => aborted.tell());
            await new Promise(() => {});
          },
        }),
        { streamIdleTimeoutMs: 50 },
      );
      await assert.rejects(Array.fromAsync(joined.client.watch({ count: 0 })), { code: 'timeout' });
      await aborted.promise;
    });

    test('do not wait forever for a consumer that does not read', async () => {
      const ended = signalOf<void>();
      const text = 'x'.repeat(1024 * 1024);
      await using joined = await transport.open(
        handlersWith({
          async *watch() {
            try {
              for (;;) yield { rows: [rowOf(1, text)] };
            } finally {
              ended.tell();
            }
          },
        }),
        { streamIdleTimeoutMs: 500 },
      );
      const reading = joined.client.watch({ count: 0 })[Symbol.asyncIterator]();
      // On a slow machine, the first message may be late already.
      await assert.rejects(
        async () => {
          for (;;) {
            await reading.next();
            await ended.promise;
          }
        },
        { code: 'timeout' },
      );
      await ended.promise;
    });

    test('run no further ahead of their consumer than a few megabytes', async () => {
      let sent = 0;
      const megabyte = 'x'.repeat(1024 * 1024);
      await using joined = await transport.open(
        handlersWith({
          async *watch({ count }) {
            for (sent = 1; sent <= count; sent += 1) yield { rows: [rowOf(sent, megabyte)] };
          },
        }),
      );
      let read = 0;
      for await (const message of joined.client.watch({ count: 50 })) {
        read += message.rows.length;
        if (read % 10 === 0) await wait(20);
        assert.ok(sent - read <= 16, `${sent - read} MiB ahead`);
      }
      assert.equal(read, 50);
    });

    test('carry a hundred thousand rows in bounded memory', async () => {
      let produced = 0;
      const text = 'x'.repeat(500);
      await using joined = await transport.open(
        handlersWith({
          async *watch({ count }) {
            for (produced = 0; produced < count; produced += 100) {
              yield { rows: Array.from({ length: 100 }, (_, index) => rowOf(produced + index, text)) };
            }
          },
        }),
      );
      let next = 0;
      let furthest = 0;
      for await (const { rows } of joined.client.watch({ count: 100_000 })) {
        for (const { id } of rows) assert.equal(id, next++);
        furthest = Math.max(furthest, produced - next);
      }
      assert.equal(next, 100_000);
      assert.ok(furthest < 30_000, `${furthest} rows ahead`);
    });

    test('do not block unary calls, however many are open', async () => {
      await using joined = await transport.open(
        handlersWith({
          async *watch(_request, { signal }) {
            yield { rows: [] };
            await new Promise((resolve) => signal.addEventListener('abort', resolve));
          },
        }),
      );
      const caller = new AbortController();
      const open = Array.from({ length: 100 }, async () => {
        for await (const _ of joined.client.watch({ count: 0 }, { signal: caller.signal }));
      });
      const settled = Promise.allSettled(open);
      await joined.client.read({ text: '' });
      caller.abort();
      assert.deepEqual(new Set((await settled).map(({ status }) => status)), new Set(['rejected']));
    });
  });
}
