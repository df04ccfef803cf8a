import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { Registry } from 'prom-client';
import { silentLog } from '../base/log.ts';
import { createTraceparent } from '../base/trace.ts';
import { OtlpTracer } from './otlp.ts';
import { beginSpan, withinSpans } from './tracer.ts';

interface SentSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly status: object;
}

let sent: SentSpan[] = [];
const collector = createServer(async (request, response) => {
  const body = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString());
  sent.push(...body.resourceSpans[0].scopeSpans[0].spans);
  response.end('{}');
});
collector.listen(0, '127.0.0.1');
await once(collector, 'listening');
after(() => collector.close());
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`;

function open(options: { ratio?: number; endpoint?: string } = {}) {
  const metrics = new Registry();
  const usual = { endpoint, service: 'tests', ratio: 1, log: silentLog, metrics };
  const tracer = new OtlpTracer({ ...usual, ...options });
  const count = async (outcome: string) => {
    const text = await metrics.metrics();
    return Number(new RegExp(`trace_spans_total\\{outcome="${outcome}"\\} (\\d+)`).exec(text)?.[1]);
  };
  return { tracer, count };
}

const step = {
  name: 'step',
  kind: 'internal' as const,
  attributes: { count: 1, word: 'a' },
  traceparent: undefined,
};

test('what is left is sent at the end, each step under its cause', async () => {
  sent = [];
  const { tracer, count } = open();
  const outer = beginSpan(tracer, step);
  await withinSpans([outer], async () => {
    const inner = beginSpan(tracer, {
      ...step,
      name: 'inner',
      kind: 'server',
      traceparent: outer.traceparent,
    });
    await assert.rejects(
      withinSpans([inner], () => Promise.reject(new RangeError('broken'))),
      RangeError,
    );
  });
  await tracer[Symbol.asyncDispose]();
  const [inner, root] = sent;
  assert.deepEqual([inner?.name, inner?.kind, inner?.status], ['inner', 2, { code: 2 }]);
  assert.deepEqual(
    [root?.name, root?.kind, root?.status, root?.parentSpanId],
    ['step', 1, { code: 0 }, undefined],
  );
  assert.equal(inner?.traceId, root?.traceId);
  assert.equal(inner?.parentSpanId, outer.traceparent?.split('-')[2]);
  assert.equal(await count('sent'), 2);
});

test('a share of the traces is sent, whole', async () => {
  for (const [ratio, least, most] of [
    [0, 0, 0],
    [0.5, 800, 1_200],
    [1, 2_000, 2_000],
  ] as const) {
    sent = [];
    const { tracer } = open({ ratio });
    for (let count = 0; count < 1_000; count++) {
      const outer = beginSpan(tracer, step);
      beginSpan(tracer, { ...step, traceparent: outer.traceparent }).end(false);
      outer.end(false);
    }
    await tracer[Symbol.asyncDispose]();
    assert.ok(sent.length >= least && sent.length <= most, `${sent.length} of ratio ${ratio}`);
    const byTrace = Map.groupBy(sent, ({ traceId }) => traceId);
    for (const spans of byTrace.values()) assert.equal(spans.length, 2);
  }
});

test('what the collector does not take is counted, and keeps no memory', async () => {
  const { tracer, count } = open({ endpoint: 'http://127.0.0.1:1' });
  for (let count = 0; count < 5_000; count++) beginSpan(tracer, step).end(false);
  assert.equal(await count('dropped'), 5_000 - 4_096);
  await tracer[Symbol.asyncDispose]();
  assert.equal(await count('sent'), 0);
  await assert.rejects(tracer.ping(), { code: 'unavailable' });
});

test('without a tracer, or unsampled, a step is none', () => {
  const { tracer } = open();
  assert.equal(beginSpan(undefined, { ...step, traceparent: 'as given' }).traceparent, 'as given');
  const { traceId, spanId } = createTraceparent();
  const unsampled = `00-${traceId}-${spanId}-00`;
  assert.equal(beginSpan(tracer, { ...step, traceparent: unsampled }).traceparent, unsampled);
});
