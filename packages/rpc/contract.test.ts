import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { AppError, type ErrorCode, toAppError } from '@octavo/core';
import { until } from '@octavo/testing';
import pino from 'pino';
import { connectCodes } from './codes.ts';
import type { RpcContext } from './contract.ts';
import { handlersWith, rowOf, signalOf, type TestHandlers, transports } from './testing.ts';

const requestId = 'request-7';
const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

for (const transport of transports) {
  describe(`unary calls ${transport.name}`, () => {
    test('return the response, with nothing lost either way', async () => {
      const seen: unknown[] = [];
      await using joined = await transport.open(
        handlersWith({
          read: async ({ text }) => ({ row: rowOf(9, text) }),
          async write({ row }) {
            seen.push(row);
            return { id: Number.MAX_SAFE_INTEGER };
          },
        }),
      );
      const text = 'ünï€ 🎉 \n\t"\\';
      assert.deepEqual(await joined.client.read({ text }), { row: rowOf(9, text) });
      assert.deepEqual(await joined.client.read({ text: '' }), { row: rowOf(9, '') });
      assert.deepEqual(await joined.client.write({ row: rowOf(0) }), { id: Number.MAX_SAFE_INTEGER });
      assert.deepEqual(await joined.client.write({ row: undefined }), { id: Number.MAX_SAFE_INTEGER });
      assert.deepEqual(seen, [rowOf(0), undefined]);
    });

    test('carry the request id, the trace and the deadline', async () => {
      const contexts: RpcContext[] = [];
      await using joined = await transport.open(
        handlersWith({
          async read(_request, context) {
            contexts.push(context);
            return { row: undefined };
          },
        }),
      );
      const startMs = Date.now();
      const isBetween = (deadlineMs: number | undefined, timeoutMs: number) =>
        deadlineMs !== undefined &&
        deadlineMs >= startMs + timeoutMs - 1 &&
        deadlineMs <= Date.now() + timeoutMs + 1;
      await joined.client.read({ text: '' }, { requestId, traceparent, timeoutMs: 60_000 });
      await joined.client.read({ text: '' });
      const [given, made] = contexts;
      assert.equal(given?.requestId, requestId);
      assert.equal(given?.traceparent, traceparent);
      assert.ok(isBetween(given?.deadlineMs, 60_000));
      assert.match(made?.requestId ?? '', /^[0-9a-f-]{36}$/);
      assert.equal(made?.traceparent, undefined);
      assert.ok(isBetween(made?.deadlineMs, 5_000));
    });

    test('fail with every part of the error, for every code', async () => {
      const fields = { title: 'is required', 'posts[17]': 'must be ünïque', ['__proto__']: 'is odd' };
      const thrown = new Map<string, AppError>();
      for (const code of Object.keys(connectCodes) as ErrorCode[]) {
        thrown.set(
          code,
          new AppError(code, `it is ${code}, ünï€`, { fields, reason: 'FINE', retryAfterSeconds: 1.5 }),
        );
        thrown.set(`${code}, bare`, new AppError(code, 'bare'));
      }
      await using joined = await transport.open(
        handlersWith({
          async write({ row }) {
            throw thrown.get(row?.text ?? '');
          },
        }),
      );
      for (const [name, error] of thrown) {
        await assert.rejects(joined.client.write({ row: rowOf(1, name) }), (received: AppError) => {
          assert.ok(received instanceof AppError);
          const { code, message, fields, reason, retryAfterSeconds } = error;
          assert.deepEqual(
            { ...received, message: received.message },
            { name: 'AppError', code, message, fields, reason, retryAfterSeconds, details: undefined },
          );
          return true;
        });
      }
    });

    test('hide what was not meant for the caller, and log it', async () => {
      const lines: Record<string, unknown>[] = [];
      const log = pino({ level: 'error' }, { write: (line: string) => lines.push(JSON.parse(line)) });
      const failing: TestHandlers['read'][] = [
        async () => {
          throw new Error('password is 1234');
        },
        () => {
          throw new TypeError('password is 1234');
        },
        async () => {
          throw 'password is 1234';
        },
        async () => {
          throw toAppError(new Error('password is 1234'));
        },
      ];
      for (const read of failing) {
        await using joined = await transport.open(handlersWith({ read }), { log });
        await assert.rejects(joined.client.read({ text: '' }, { requestId }), (error: AppError) => {
          assert.equal(error.code, 'internal');
          assert.doesNotMatch(error.message + String(error.cause) + JSON.stringify(error), /1234/);
          return true;
        });
        const line = lines.pop();
        assert.match(JSON.stringify(line?.err), /1234/);
        assert.equal(line?.requestId, requestId);
        assert.equal(line?.method, 'testing.v1.TestService/Read');
      }
    });

    test('fail as timeout when the deadline passes, even if the handler hangs', async () => {
      const started: AbortSignal[] = [];
      await using joined = await transport.open(
        handlersWith({
          read(_request, { signal }) {
            started.push(signal);
            return new Promise(() => {});
          },
        }),
      );
      // On a busy machine a deadline may pass before the handler starts.
      for (let timeoutMs = 50; started.length === 0; timeoutMs *= 2) {
        await assert.rejects(joined.client.read({ text: '' }, { timeoutMs }), { code: 'timeout' });
      }
      await until(() => started.every(({ aborted }) => aborted));
      assert.ok(started.every(({ reason }) => reason instanceof AppError));
    });

    test('may wait forever', async () => {
      await using joined = await transport.open(handlersWith(), { timeoutMs: 1 });
      await joined.client.read({ text: '' }, { timeoutMs: Number.POSITIVE_INFINITY });
      await joined.client.read({ text: '' }, { timeoutMs: 2 ** 40 });
    });

    test('have the deadline of their client unless they name one', async () => {
      await using joined = await transport.open(handlersWith({ read: () => new Promise(() => {}) }), {
        timeoutMs: 50,
      });
      await assert.rejects(joined.client.read({ text: '' }), { code: 'timeout' });
      await assert.rejects(joined.client.read({ text: '' }, { requestId }), { code: 'timeout' });
    });

    test('fail as canceled when their caller cancels, and abort the signal of the handler', async () => {
      const started = signalOf<AbortSignal>();
      await using joined = await transport.open(
        handlersWith({
          read(_request, { signal }) {
            started.tell(signal);
            return new Promise(() => {});
          },
        }),
      );
      const caller = new AbortController();
      const call = joined.client.read({ text: '' }, { signal: caller.signal });
      const seen = await started.promise;
      assert.equal(seen.aborted, false);
      caller.abort();
      await assert.rejects(call, { code: 'canceled' });
      if (!seen.aborted) await new Promise((resolve) => seen.addEventListener('abort', resolve));
      await assert.rejects(joined.client.read({ text: '' }, { signal: caller.signal }), { code: 'canceled' });
    });

    test('do not abort the signal when they succeed', async () => {
      const signals: AbortSignal[] = [];
      await using joined = await transport.open(
        handlersWith({
          async read(_request, { signal }) {
            signals.push(signal);
            return { row: undefined };
          },
        }),
      );
      await joined.client.read({ text: '' });
      await joined.client.read({ text: '' });
      assert.deepEqual(
        signals.map((signal) => signal.aborted),
        [false, false],
      );
    });

    test('carry messages of many megabytes', async () => {
      await using joined = await transport.open(handlersWith());
      const text = 'ü'.repeat(8 * 1024 * 1024);
      const { row } = await joined.client.read({ text }, { timeoutMs: 30_000 });
      assert.ok(row?.text === text);
    });

    test('run a thousand at a time', async () => {
      await using joined = await transport.open(
        handlersWith({
          async read({ text }) {
            await wait(1);
            return { row: rowOf(Number(text)) };
          },
        }),
        { timeoutMs: 60_000 },
      );
      const calls = Array.from({ length: 1_000 }, (_, id) => joined.client.read({ text: String(id) }));
      const answers = await Promise.all(calls);
      assert.deepEqual(
        answers.map(({ row }) => row?.id),
        Array.from({ length: 1_000 }, (_, id) => id),
      );
    });
  });
}

test('a span is not created for a handler in this process that does not need it', async () => {
  const local = transports.find(({ name }) => name === 'in process');
  assert.ok(local);
  let made = 0;
  const options = {
    traceparent: () => {
      made += 1;
      return traceparent;
    },
  };
  await using joined = await local.open(
    handlersWith({
      async write(_request, context) {
        return { id: context.traceparent === traceparent ? 1 : 0 };
      },
    }),
  );
  await joined.client.read({ text: '' }, options);
  assert.equal(made, 0);
  assert.deepEqual(await joined.client.write({ row: undefined }, options), { id: 1 });
  assert.equal(made, 1);
});
