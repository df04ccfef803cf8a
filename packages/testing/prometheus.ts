import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { testFolder } from './folder.ts';
import { freePort } from './free-port.ts';

/** A Prometheus that scrapes a test's targets every second. */
export interface TestPrometheus {
  /**
   * The result of an instant query: a vector whose elements have labels and a value. Throws the error that Prometheus reports.
   */
  query(expression: string): Promise<readonly QueryResult[]>;
}

export interface QueryResult {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, value: string];
}

const startMs = 15_000;

/** False, or why tests that need Prometheus are skipped; with `CI=true` that is an error. */
export function prometheusIsMissing(): false | string {
  try {
    execFileSync('prometheus', ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    if (process.env.CI === 'true') throw new Error('Prometheus is not installed');
    return 'Prometheus is not installed (apt install prometheus)';
  }
}

/** Starts Prometheus; it ends after the tests of the calling file. `targets` are addresses by job name, `rules` the text of a file of rules. */
export async function startPrometheus(
  targets: Readonly<Record<string, string>>,
  { rules = 'groups: []' }: { readonly rules?: string } = {},
): Promise<TestPrometheus> {
  const folder = testFolder('prometheus');
  await writeFile(join(folder, 'rules.yaml'), rules);
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: ['rules.yaml'],
    scrape_configs: Object.entries(targets).map(([job, url]) => ({
      job_name: job,
      static_configs: [{ targets: [new URL(url).host] }],
    })),
  };
  // JSON is valid YAML.
  await writeFile(join(folder, 'prometheus.yaml'), JSON.stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yaml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  after(() => end(child));
  await ready(address, child);
  return { query: (expression) => query(address, expression) };
}

async function query(address: string, expression: string): Promise<readonly QueryResult[]> {
  const response = await fetch(
    `http://${address}/api/v1/query?${new URLSearchParams({ query: expression })}`,
  );
  const answer = (await response.json()) as {
    status: string;
    error?: string;
    data: { result: readonly QueryResult[] };
  };
  if (answer.status !== 'success') throw new Error(`${answer.error}: ${expression}`);
  return answer.data.result;
}

async function ready(address: string, child: ChildProcess): Promise<void> {
  const deadlineMs = performance.now() + startMs;
  for (;;) {
    const isReady = await fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    if (child.exitCode !== null || performance.now() > deadlineMs)
      throw new Error('Prometheus did not start');
    await setTimeout(100);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
