import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, describe, test } from 'node:test';
import { createTraceparent, formatTraceparent } from '@octavo/core';
import { startTestSystem } from '@octavo/octavo/testing';
import { until } from '@octavo/testing';
import { castOf } from './testing.ts';

interface Span {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly status: { readonly code?: number };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: { stringValue: string } }[] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<Span, 'service'>[] }[];
  }[];
}

const spans: Span[] = [];
let isAway = false;
const keys = new Set<string | undefined>();
const collector = createServer(async (request, response) => {
  const body = Buffer.concat(await Array.fromAsync(request)).toString();
  if (isAway || request.url !== '/v1/traces') return response.writeHead(503).end();
  keys.add(request.headers['x-key'] as string);
  for (const { resource, scopeSpans } of (JSON.parse(body) as Sent).resourceSpans) {
    const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
    for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => ({ ...span, service })));
  }
  response.end('{}');
});
collector.listen(0, '127.0.0.1');
await once(collector, 'listening');
after(() => collector.close());
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
const system = await startTestSystem({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20key',
});
after(() => system[Symbol.asyncDispose]());
const { alice, bob, charlie } = await castOf(system);

/** The spans of a trace, once each of the names is among them. */
function spansOf(traceId: string, names: readonly string[]): Promise<Span[]> {
  return until(async () => {
    const own = spans.filter((span) => span.traceId === traceId);
    return names.every((name) => own.some((span) => span.name === name)) && own;
  });
}

/** Asserts that the spans form one tree: each is the child of another one or of the caller. */
function assertOneTree(own: readonly Span[], caller: string): void {
  const ids = new Set([caller, ...own.map(({ spanId }) => spanId)]);
  for (const { name, parentSpanId } of own) assert.ok(ids.has(parentSpanId ?? ''), `${name} has no parent`);
  assert.equal(own.filter(({ parentSpanId }) => parentSpanId === caller).length, 1);
  for (const { startTimeUnixNano: start, endTimeUnixNano: end } of own)
    assert.ok(BigInt(end) >= BigInt(start));
}

const rpc = (name: string) =>
  process.env.TEST_RPC === 'remote' ? [`POST /posts.v1.PostService/${name}`] : [];

describe('one trace', () => {
  test('connects a new post, the backend and the event that classifies it', async () => {
    const caller = createTraceparent();
    const created = await alice.post(
      '/posts',
      { title: 'Fog', body: 'b' },
      { traceparent: formatTraceparent(caller) },
    );
    assert.equal(created.status, 201);
    const decision = process.env.TEST_RPC === 'remote' ? ['POST /authz.v1.AuthService/Decide'] : [];
    const names = ['POST /api/v1/posts', ...decision, ...rpc('CreatePost'), 'event post.created.v1'];
    const own = await spansOf(caller.traceId, names);
    assertOneTree(own, caller.spanId);
    if (process.env.TEST_RPC === 'remote') {
      assert.deepEqual(new Set(own.map(({ service }) => service)), new Set(['gateway', 'posts', 'authz']));
    }
  });

  test('connects a request for a reanalysis and its job', async () => {
    const caller = createTraceparent();
    const headers = { traceparent: formatTraceparent(caller) };
    assert.equal((await alice.post('/posts/reanalyze', undefined, headers)).status, 202);
    const names = ['POST /api/v1/posts/reanalyze', ...rpc('RequestReanalysis'), 'job reanalysis'];
    assertOneTree(await spansOf(caller.traceId, names), caller.spanId);
  });

  test('starts here if the caller has none, and is not recorded if the caller opts out', async () => {
    const before = new Set(spans.map(({ traceId }) => traceId));
    const unsampled = { ...createTraceparent(), sampled: false };
    await charlie.get('/posts', { traceparent: formatTraceparent(unsampled) });
    await charlie.get('/posts');
    const fresh = await until(async () =>
      spans.find(({ traceId, name }) => !before.has(traceId) && name === 'GET /api/v1/posts'),
    );
    assert.equal(fresh.parentSpanId, undefined);
    assert.ok(spans.every(({ traceId }) => traceId !== unsampled.traceId));
  });

  test('marks failed steps, leaves out probes, and sends the key of the collector', async () => {
    await fetch(`${system.url}/health`);
    await fetch(`${system.url}/metrics`);
    const caller = createTraceparent();
    await charlie.get('/posts/7000', { traceparent: formatTraceparent(caller) });
    const [missing] = await spansOf(caller.traceId, ['GET /api/v1/posts/:id']);
    assert.equal(missing?.status.code ?? 0, 0);
    assert.ok(!spans.some(({ name }) => /health|metrics|readiness/.test(name)));
    assert.deepEqual([...keys], ['a key']);
  });
});

test('without a collector everything works, and the gateway reports it as down', async () => {
  const verdict = async () => {
    const { integrations } = (await (await fetch(`${system.url}/readiness`)).json()) as {
      integrations?: Record<string, string>;
    };
    return integrations?.tracing;
  };
  assert.equal((await bob.get('/admin/status')).json.data.integrations.tracing, true);
  assert.equal(await verdict(), undefined);
  isAway = true;
  await until(async () => {
    assert.equal((await charlie.get('/posts')).status, 200);
    return (await verdict())?.startsWith('failing: ');
  });
  assert.equal((await fetch(`${system.url}/readiness`)).status, 200);
  isAway = false;
  await until(async () => {
    await charlie.get('/posts');
    return (await verdict()) === undefined;
  });
});
