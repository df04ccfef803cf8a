import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { FakeClock } from '@octavo/core';
import { bearer, freePort, until } from '@octavo/testing';
import { prometheusIsMissing, startPrometheus } from '@octavo/testing/engines';
import { parse, stringify } from 'yaml';
import { startProcess, startTestSystem, stopProcess } from '../apps/octavo/testing.ts';
import { startBudgets } from '../services/budgets/testing.ts';
import { startChat } from '../services/chat/testing.ts';
import { startModel } from '../services/chat/testing-model.ts';
import { castOf } from '../services/gateway/testing.ts';
import { inferenceToken, startInferenceServer } from '../services/posts/testing/inference.ts';

/** Alerts whose conditions last as long as their causes. */
const provoked = [
  'OctavoDown',
  'OctavoEventsNotPublished',
  'OctavoExportsNotStored',
  'OctavoFailing',
  'OctavoIntegrationDown',
  'OctavoMemory',
  'OctavoRestarting',
  'OctavoSentimentFailing',
  'OctavoSlow',
  'OctavoSpansDropped',
];
const nobody = 'http://127.0.0.1:1';
const patienceMs = 90_000;
const skip = prometheusIsMissing();

describe('alerts', { skip }, () => {
  test('fire when their conditions are true', { timeout: 240_000 }, async () => {
    await using stack = new AsyncDisposableStack();
    const model = stack.use(await startModel());
    const system = stack.use(
      await startTestSystem({
        OTEL_EXPORTER_OTLP_ENDPOINT: nobody,
        INFERENCE_URL: nobody,
        INFERENCE_MODEL: 'sentiment',
        S3_ENDPOINT: nobody,
        S3_BUCKET: 'exports',
        S3_ACCESS_KEY_ID: 'key',
        S3_SECRET_ACCESS_KEY: 'secret',
      }),
    );
    const chat = stack.use(
      await startChat({ environment: { LLM_BASE_URL: model.url, LLM_MODEL: 'scripted' } }),
    );
    const budgets = stack.use(await startBudgets({ environment: { NATS_URL: 'nats://127.0.0.1:1' } }));
    const lagging = stack.use(await startLagging());
    const tokensPort = await freePort();
    const prometheus = await startPrometheus(
      {
        'octavo-gateway': system.url,
        'octavo-chat': chat.url,
        'octavo-budgets': budgets.url,
        'octavo-posts': lagging.url,
        'octavo-gone': `http://127.0.0.1:${await freePort()}`,
        'octavo-tokens': `http://127.0.0.1:${tokensPort}`,
      },
      { rules: hastened() },
    );
    const stop = new AbortController();
    stack.defer(() => stop.abort());
    const untilFiring = async (names: readonly string[], trouble: Promise<unknown>) => {
      let missing = names;
      for (
        const untilMs = performance.now() + patienceMs;
        missing.length > 0 && performance.now() < untilMs;
      ) {
        await Promise.race([setTimeout(500), trouble]);
        const alerts = await prometheus.query('ALERTS{alertstate="firing"}');
        const firing = new Set(alerts.map(({ metric }) => metric.alertname));
        missing = missing.filter((name) => !firing.has(name));
      }
      assert.deepEqual(missing, []);
    };
    const trouble = Promise.all([
      useGateway(system, stop.signal),
      askSlowly(chat, model, stop.signal),
      addBudgets(budgets, stop.signal),
      restart(tokensPort, stop.signal),
    ]);
    const memory = Buffer.alloc(1.6e9, 1);
    await untilFiring(provoked, trouble);
    stop.abort();
    await trouble;
    assert.equal(memory.at(-1), 1, 'it was held until here');
    await untilFiring(['OctavoWritesQueue'], queueWrites(budgets));
    await untilFiring(['OctavoJobsDead'], lagging.failJob());
    await untilFiring(['OctavoEventsLate'], lagging.recover());
    // All services of this test share one event loop, so it is blocked when nothing else is needed.
    const over = new AbortController();
    const blocked = blockEventLoop(over.signal);
    await untilFiring(['OctavoEventLoopLate'], blocked).finally(() => over.abort());
    await blocked;
  });
});

/** The rules of the deployment with a short past and without waiting, so that they fire within seconds. Conditions stay as they are. */
function hastened(): string {
  const file = join(import.meta.dirname, '../deploy/prometheus/alerts.yaml');
  const { groups } = parse(readFileSync(file, 'utf8')) as {
    groups: { interval?: string; rules: { expr: string; for?: string }[] }[];
  };
  for (const group of groups) {
    group.interval = '1s';
    for (const rule of group.rules) {
      delete rule.for;
      rule.expr = rule.expr.replaceAll(/\[\d+m\]/g, '[15s]');
    }
  }
  return stringify({ groups });
}

/** Requests that need what is not there: exports that are stored, and texts that are classified. */
async function useGateway(
  system: Awaited<ReturnType<typeof startTestSystem>>,
  signal: AbortSignal,
): Promise<void> {
  const { alice, charlie } = await castOf(system);
  while (!signal.aborted) {
    await Promise.all([
      charlie.get('/posts/export'),
      charlie.get('/status'),
      alice.post('/ml/sentiment', { text: 'I love the sea.' }),
    ]);
    await setTimeout(250);
  }
}

/** Answers of a model that takes more than a second. */
async function askSlowly(
  chat: Awaited<ReturnType<typeof startChat>>,
  model: Awaited<ReturnType<typeof startModel>>,
  signal: AbortSignal,
): Promise<void> {
  await chat.upload([{ name: 'handbook.md', content: 'Everybody has 27 days of vacation in a year.\n' }]);
  model.script = (answer) => void setTimeout(1_500).then(() => answer.text('27 days [1].').end());
  while (!signal.aborted) await chat.send('POST', '/api/chat', { query: 'How many days of vacation?' });
}

/** Events that cannot be published, and whose age grows by minutes. */
async function addBudgets(
  budgets: Awaited<ReturnType<typeof startBudgets>>,
  signal: AbortSignal,
): Promise<void> {
  const { token } = await budgets.person();
  const body = { name: 'Food', limit: 100 };
  await budgets.send('/api/budgets', { body, headers: bearer(token) });
  while (!signal.aborted) {
    budgets.clock.advance(30_000);
    await setTimeout(1_000);
  }
}

/** Posts whose inference server is away from the start, on a clock of their own. */
async function startLagging() {
  const port = await freePort();
  const clock = new FakeClock(Date.now());
  const settings = {
    INFERENCE_URL: `http://127.0.0.1:${port}`,
    INFERENCE_MODEL: 'octavo-1',
    INFERENCE_TOKEN: inferenceToken,
  };
  const system = await startTestSystem(settings, clock);
  const { alice } = await castOf(system);
  const servers = new AsyncDisposableStack();
  return {
    url: system.url,
    /** A job fails at each attempt. A post waits. */
    async failJob(): Promise<void> {
      await alice.create();
      const { jobId } = (await alice.post('/posts/reanalyze')).json.data;
      await until(async () => {
        clock.advance(10_000);
        await setTimeout(300);
        return (await alice.get(`/posts/reanalyze/${jobId}`)).json.data.status === 'failed';
      });
    },
    /** The post is classified after all, minutes late. */
    async recover(): Promise<void> {
      await startInferenceServer({ after: (work) => servers.defer(async () => work()) }, port);
    },
    async [Symbol.asyncDispose]() {
      await system[Symbol.asyncDispose]();
      await servers.disposeAsync();
    },
  };
}

/** A process that is killed as soon as Prometheus has seen it. */
async function restart(port: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { child } = await startProcess('tokens', { LOG_LEVEL: 'fatal' }, port);
    await setTimeout(1_500);
    await stopProcess(child, 'SIGKILL');
  }
}

/** Writes that wait for a lock of another process. */
async function queueWrites({ folder, person }: Awaited<ReturnType<typeof startBudgets>>): Promise<void> {
  const { post } = await person();
  const other = new DatabaseSync(join(folder, 'budgets.sqlite'));
  other.exec('begin immediate');
  const writes = Array.from({ length: 200 }, () => post('/api/budgets', { name: 'Food', limit: 100 }));
  await setTimeout(4_000);
  other.exec('rollback');
  other.close();
  await Promise.all(writes);
}

/** Keeps the process from its timers for longer than the limit of the alert. */
async function blockEventLoop(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const untilMs = performance.now() + 450;
    while (performance.now() < untilMs);
    await setTimeout(600);
  }
}
