import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { prometheusIsMissing, startPrometheus, testDatabaseUrl } from '@octavo/testing/engines';
import { parse } from 'yaml';
import { startTestSystem } from '../apps/octavo/testing.ts';
import { startBudgets } from '../services/budgets/testing.ts';
import { startChat } from '../services/chat/testing.ts';
import { castOf } from '../services/gateway/testing.ts';
import { startPolls, type TestPolls } from '../services/polls/testing.ts';
import { startQuotes } from '../services/quotes/testing.ts';

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Rules {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string; readonly expr: string }[];
  }[];
}

const folder = join(import.meta.dirname, '../deploy');
const read = (file: string) => readFileSync(join(folder, file), 'utf8');
const dashboard = JSON.parse(read('grafana/octavo.json')) as { panels: readonly Panel[] };
const { groups } = parse(read('prometheus/alerts.yaml')) as Rules;
const rules = groups.flatMap(({ rules }) => rules);
const database = await testDatabaseUrl();
const skip = prometheusIsMissing() || database.skip;

describe('what operators are given', { skip }, () => {
  test('alert rules are sound, and fire when they should', () => {
    for (const args of [
      ['check', 'rules', 'prometheus/alerts.yaml'],
      ['test', 'rules', 'prometheus/alerts.test.yaml'],
      ['check', 'config', 'prometheus/prometheus.yaml'],
    ]) {
      execFileSync('promtool', args, { cwd: folder, stdio: 'pipe' });
    }
  });

  test('every alert has a case in which it fires', () => {
    const cases = parse(read('prometheus/alerts.test.yaml')) as {
      tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[];
    };
    const firing = cases.tests.flatMap(({ alert_rule_test: each }) =>
      each.filter((one) => one.exp_alerts?.length),
    );
    const named = new Set(firing.map(({ alertname }) => alertname));
    assert.deepEqual(
      rules.map(({ alert }) => alert).filter((alert) => !named.has(alert)),
      [],
    );
  });

  test('every query of the dashboard has an answer, and every figure of an alert exists', async () => {
    const system = await startTestSystem({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
    after(() => system[Symbol.asyncDispose]());
    const polls = await startPolls();
    after(() => polls[Symbol.asyncDispose]());
    // One on PostgreSQL, which has figures of its own.
    const quotes = await startQuotes({ environment: { DATABASE_URL: database.url ?? '' } });
    after(() => quotes[Symbol.asyncDispose]());
    // A server that is away has a state too.
    const chat = await startChat({ environment: { RERANK_BASE_URL: 'http://127.0.0.1:1' } });
    after(() => chat[Symbol.asyncDispose]());
    // An outbox is measured where it is copied to NATS, even if nothing responds there.
    const budgets = await startBudgets({ environment: { NATS_URL: 'nats://127.0.0.1:1' } });
    after(() => budgets[Symbol.asyncDispose]());
    const prometheus = await startPrometheus({
      'octavo-gateway': system.url,
      'octavo-polls': polls.url,
      'octavo-quotes': quotes.url,
      'octavo-chat': chat.url,
      'octavo-budgets': budgets.url,
    });
    const stop = new AbortController();
    const busy = Promise.all([keepBusy(system, stop.signal), keepVoting(polls, stop.signal)]);
    const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr, legendFormat }) => ({ title, expr: inGrafana(expr), legendFormat })),
    );
    assert.ok(queries.length > 25);
    let unanswered = queries;
    for (let tries = 0; unanswered.length > 0 && tries < 30; tries++) {
      await setTimeout(1_000);
      await chat.send('POST', '/api/chat', { query: 'Is anything written about this?' });
      const results = await Promise.all(unanswered.map(({ expr }) => prometheus.query(expr)));
      for (const [index, { title, legendFormat }] of unanswered.entries()) {
        for (const { metric } of results[index] ?? []) {
          const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name);
          for (const name of named) assert.ok(metric[name], `${title} has no label ${name}`);
        }
      }
      unanswered = unanswered.filter((_, index) => !results[index]?.some(({ value }) => value[1] !== 'NaN'));
    }
    assert.deepEqual(
      unanswered.map(({ title, expr }) => `${title}: ${expr}`),
      [],
    );
    for (const { alert, expr } of rules) {
      await prometheus.query(expr);
      for (const name of figuresIn(expr)) {
        assert.ok(
          (await prometheus.query(`count(${name})`)).length > 0,
          `${alert} goes by ${name}, which is none`,
        );
      }
    }
    stop.abort();
    await busy;
  });
});

/** Returns a query as Grafana sends it. */
function inGrafana(expression: string): string {
  return expression.replaceAll('$__rate_interval', '15s').replaceAll('$job', 'octavo.*');
}

/** Some of everything, so that all figures move. */
async function keepBusy(
  system: Awaited<ReturnType<typeof startTestSystem>>,
  signal: AbortSignal,
): Promise<void> {
  const { alice, charlie, stranger } = await castOf(system);
  while (!signal.aborted) {
    const { id } = await alice.create();
    await Promise.all([
      alice.put(`/posts/${id}`, { body: 'The ferries go again.' }),
      charlie.get('/posts/1000000'),
      charlie.get('/posts/export'),
      charlie.delete(`/posts/${id}`),
      alice.post('/posts/reanalyze'),
      alice.post('/ml/sentiment', { text: 'I love the sea.' }),
      stranger.post('/auth/login', { username: 'editor', password: system.passwords.editor }),
    ]);
    await setTimeout(250);
  }
}

async function keepVoting(polls: TestPolls, signal: AbortSignal): Promise<void> {
  const { id, choices } = await polls.createPoll(['Yes', 'No']);
  while (!signal.aborted) {
    await polls.call('POST', `/api/questions/${id}/vote/`, { body: { choice: choices[0] } });
    await setTimeout(250);
  }
}

function figuresIn(expression: string): string[] {
  return [...expression.matchAll(/\b([a-z][a-z0-9_]+)\{/g)].map(([, name = '']) => name);
}
