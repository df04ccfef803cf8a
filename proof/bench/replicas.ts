/**
 * The sizing model of docs/growth.md against replicas: requests a second, and CPU time of a request in the processes of the service and in
 * PostgreSQL, with one replica and with two on one database, under the same load. The model says that CPU time stays what it is, so that
 * reads add up until the cores are busy; the requests a second show it only where there is a core for each process.
 *
 *   node proof/bench/replicas.ts [--seconds 5] [NAME...]
 */
import type { ChildProcess } from 'node:child_process';
import { parseArgs } from 'node:util';
import { sendRequest, testFolder } from '@octavo/testing';
import { testDatabaseUrl } from '@octavo/testing/engines';
import pg from 'pg';
import { startProcess, stopProcess } from '../../apps/octavo/testing.ts';
import { growing } from './growth/services.ts';
import { cpuUsOf } from './lib/cpu.ts';
import { type Load, offer } from './lib/load.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '5' } },
});
const seconds = Number(options.seconds);
const clients = 64;

interface Target extends Omit<Load, 'url' | 'accounts'> {
  /** True if each client has an account of its own. */
  readonly hasAccounts?: boolean;
}

const budget = { method: 'POST', body: JSON.stringify({ name: 'Food', limit: 100 }) };
const targets: Readonly<Record<string, readonly Target[]>> = {
  polls: [{}],
  quotes: [{}],
  budgets: [{}, budget, { ...budget, hasAccounts: true }],
};
const paths: Readonly<Record<string, string>> = {
  polls: '/polls/',
  quotes: '/api/quotes/?limit=20',
  budgets: '/api/budgets',
};

for (const name of positionals.length > 0 ? positionals : Object.keys(targets)) await measure(name);
process.exit();

async function measure(name: string): Promise<void> {
  const service = growing[name];
  const database = await testDatabaseUrl();
  if (!service || database.url === undefined) throw new Error(`${name} cannot be measured: ${database.skip}`);
  const environment = {
    DATABASE_URL: database.url,
    OCTAVO_DATA: testFolder('replicas'),
    LOG_LEVEL: 'error',
    NODE_ENV: 'development',
    ...service.settings,
  };
  const first = await startProcess(name, environment);
  const headers = await service.open(first.url, 0);
  const second = await startProcess(name, environment);
  for (const { hasAccounts, ...load } of targets[name] ?? []) {
    const accounts = hasAccounts ? await signUp(first.url) : [{}];
    for (const replicas of [[first], [first, second]]) {
      const before = await cpuOf(replicas, database.url);
      const reports = await Promise.all(
        replicas.map(({ url }) =>
          offer({
            headers,
            ...load,
            accounts,
            url: `${url}${paths[name]}`,
            connections: clients / replicas.length,
            seconds,
          }),
        ),
      );
      const after = await cpuOf(replicas, database.url);
      const perSecond = sum(reports.map((report) => report.perSecond));
      // Those of the second of warming up count too.
      const requests = perSecond * (seconds + 1);
      const each = (part: 'service' | 'server') => ((after[part] - before[part]) / requests).toFixed(0);
      const failures = sum(reports.map((report) => report.failures));
      console.log(
        `${name} ${load.method ?? 'GET'}${hasAccounts ? ' by as many accounts as clients' : ''}, ${replicas.length} of 2 replicas: ${perSecond.toFixed(0)}/s, ${each('service')} µs of the service and ${each('server')} µs of PostgreSQL each, p95 ${Math.max(...reports.map(({ p95Ms }) => p95Ms)).toFixed(1)} ms, ${failures} failed`,
      );
    }
  }
  await Promise.all([first, second].map(({ child }) => stopProcess(child, 'SIGKILL')));
}

/** Headers of new accounts of budgets, one for each client. */
function signUp(url: string): Promise<Readonly<Record<string, string>>[]> {
  return Promise.all(
    Array.from({ length: clients }, async (_, index) => {
      const account = { email: `client-${index}@example.com`, password: 'ferries wait in fog' };
      const { json } = await sendRequest(`${url}/api/auth/register`, {
        method: 'POST',
        body: JSON.stringify(account),
      });
      return { authorization: `Bearer ${json.token}` };
    }),
  );
}

/** CPU time in microseconds of the processes, and of the connections of PostgreSQL, which are processes on this machine too. */
async function cpuOf(replicas: readonly { child: ChildProcess }[], url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await client.end();
  const timesOf = (pids: readonly (number | undefined)[]) =>
    Promise.all(pids.map((pid) => cpuUsOf(pid).catch(() => 0))).then(sum);
  return {
    service: await timesOf(replicas.map(({ child }) => child.pid)),
    server: await timesOf(rows.map(({ pid }) => pid)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
