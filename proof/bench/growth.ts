/**
 * Cost of requests and memory of services as records and clients grow: CPU time and p95 of each request with 1,000 to 1,000,000 records, one client;
 * then CPU time, p95 and memory with 1 to 10,000 clients and 1,000 records, all of which repeat the first request. SQLite, one process; clients are
 * another. Writes a JSON file, a table and a chart for each into the folder.
 *
 *   node proof/bench/growth.ts [--smoke] [--to FOLDER] [--records 1000000] [NAME...]
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { testFolder } from '@octavo/testing';
import { seeds } from '../../apps/octavo/seeds.ts';
import { startProcess, stopProcess } from '../../apps/octavo/testing.ts';
import { lineChart } from './growth/chart.ts';
import { cloneRows } from './growth/clone.ts';
import { type GrowingService, growing } from './growth/services.ts';
import { cpuUsOf } from './lib/cpu.ts';
import { offer, quantiles } from './lib/load.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    smoke: { type: 'boolean', default: false },
    to: { type: 'string', default: testFolder('growth') },
    records: { type: 'string', default: '1000000' },
  },
});
const names = positionals.length > 0 ? positionals : Object.keys(growing);
const sizes = options.smoke ? [100] : powers(1_000, Number(options.records));
const clientCounts = options.smoke ? [] : [1, 10, 100, 1_000, 10_000];
const seconds = options.smoke ? 0 : 2;
const warmUps = 3;

/** One measurement: `at` records or clients. */
interface Point {
  readonly request: string;
  readonly at: number;
  readonly cpuUs: number;
  readonly p95Ms: number;
  readonly memoryMb: number;
  readonly failures: number;
}

mkdirSync(options.to, { recursive: true });
for (const name of names) {
  const service = growing[name];
  if (!service) throw new Error(`${name} is none of ${Object.keys(growing).join(', ')}`);
  const { records, clients } = await measure(name, service);
  const data = JSON.stringify({ name, records, clients }, undefined, 1);
  writeFileSync(join(options.to, `${name}.json`), `${data}\n`);
  const byRequest = [...Map.groupBy(records, ({ request }) => request)];
  const series = byRequest.map(([request, points]) => ({
    name: request,
    points: points.map(({ at, cpuUs }) => [at, cpuUs / 1_000] as const),
  }));
  const axes = { x: service.records, y: 'CPU time of a request, ms' };
  writeFileSync(join(options.to, `${name}.svg`), lineChart(`${name}: ${service.records}`, axes, series));
  writeFileSync(join(options.to, `${name}.md`), table(service.records, records) + table('clients', clients));
  console.log(table(service.records, records) + table('clients', clients));
}

async function measure(name: string, service: GrowingService) {
  const folder = testFolder(`growth-${name}`);
  const environment = {
    OCTAVO_DATA: folder,
    LOG_LEVEL: 'error',
    NODE_ENV: 'development',
    ...service.settings,
  };
  const [records, clients]: [Point[], Point[]] = [[], []];
  let count = 0;
  for (const size of sizes) {
    if (count === 0) {
      const { url, child } = await startProcess(name, environment);
      await service.open(url, 0);
      await stopProcess(child);
      if (service.isSeeded) await seeds[name]?.(environment, { count: 0, isForced: true, onProgress() {} });
    }
    const range = { from: Math.max(count, 1), to: size, after: service.after?.(size) };
    cloneRows(join(folder, service.file), service.tables, range);
    count = size;
    const { url, child } = await startProcess(name, environment);
    try {
      const headers = await service.open(url, count);
      for (const [request, pathOf] of Object.entries(service.requests))
        records.push({ request, at: count, ...(await repeat(`${url}${pathOf(count)}`, headers, child.pid)) });
      if (size === sizes[0]) {
        const [request = '', pathOf = () => '/'] = Object.entries(service.requests)[0] ?? [];
        const target = { url: `${url}${pathOf(count)}`, headers, pid: child.pid };
        for (const at of clientCounts) clients.push({ request, at, ...(await crowd(target, at)) });
      }
    } finally {
      await stopProcess(child, 'SIGKILL');
    }
  }
  return { records, clients };
}

/** One client, one request after another. */
async function repeat(url: string, headers: Readonly<Record<string, string>>, pid: number | undefined) {
  const durations: number[] = [];
  const ask = async () => {
    const startedMs = performance.now();
    const response = await fetch(url, { headers });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    durations.push(performance.now() - startedMs);
  };
  for (let round = 0; round < warmUps; round++) await ask();
  durations.length = 0;
  const cpuUs = await cpuUsOf(pid);
  const untilMs = performance.now() + seconds * 1_000;
  while (performance.now() < untilMs || durations.length < 3) await ask();
  return {
    cpuUs: ((await cpuUsOf(pid)) - cpuUs) / durations.length,
    p95Ms: quantiles(durations).p95Ms,
    memoryMb: await memoryMbOf(pid),
    failures: 0,
  };
}

interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pid: number | undefined;
}

/** Many clients at once, each with a connection of its own. */
async function crowd({ url, headers, pid }: Target, connections: number) {
  const cpuUs = await cpuUsOf(pid);
  const startedMs = performance.now();
  const { perSecond, p95Ms, failures } = await offer({
    url,
    headers,
    connections,
    // Connecting takes a while.
    seconds: seconds * Math.max(1, connections / 2_000),
  });
  // Those of the time of warming up count too.
  const requests = (perSecond * (performance.now() - startedMs)) / 1_000;
  return {
    cpuUs: ((await cpuUsOf(pid)) - cpuUs) / Math.max(1, requests),
    p95Ms,
    memoryMb: await memoryMbOf(pid),
    failures,
  };
}

async function memoryMbOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
}

function table(what: string, points: readonly Point[]): string {
  const rows = points.map(({ request, at, cpuUs, p95Ms, memoryMb, failures }) => {
    const failed = failures > 0 ? `, ${failures} refused` : '';
    return `| ${request} | ${at.toLocaleString('en')} | ${(cpuUs / 1_000).toFixed(2)} ms | ${p95Ms.toFixed(1)} ms${failed} | ${memoryMb.toFixed(0)} MB |`;
  });
  return `| request | ${what} | CPU | p95 | memory |\n|---|---|---|---|---|\n${rows.join('\n')}\n\n`;
}

function powers(from: number, to: number): number[] {
  return from > to ? [] : [from, ...powers(from * 10, to)];
}
