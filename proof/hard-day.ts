import { parseArgs } from 'node:util';
import { type DayReport, type Recovery, runDay } from './hard-day/run.ts';
import { type Layout, layouts } from './hard-day/system.ts';

const usage = `Usage: node proof/hard-day.ts [--on LAYOUT] [--minutes N] [--seed N] [--kills N] [--only PATTERN]

Runs all services under load, while their processes and engines are killed, frozen, slowed and filled, and compares what
clients were told with what is there afterwards. Exits with 1 if something was lost, doubled or not there again in a minute.

  --on LAYOUT   ${Object.entries(layouts)
    .map(([name, about]) => `${name}: ${about}`)
    .join('\n                ')}
                default: cluster
  --minutes N   time for faults, 10 by default; 60 gives each its turn several times
  --seed N      order of faults of an earlier run
  --kills N     kills each service N times, its replicas in turn, in place of all other faults
  --only PATTERN  faults that match, such as 'NATS|fill: S3'
`;

const { values } = parseArgs({
  options: {
    on: { type: 'string', default: 'cluster' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    kills: { type: 'string' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help || !Object.hasOwn(layouts, values.on)) {
  process.stdout.write(usage);
  process.exit(values.help ? 0 : 64);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const print = (line: string) => void process.stdout.write(`${line}\n`);
print(`hard day on ${values.on} (${layouts[values.on as Layout]}), seed ${values.seed}`);
const report = await runDay({
  layout: values.on as Layout,
  seed: Number(values.seed),
  minutes: Number(values.minutes),
  kills: values.kills === undefined ? undefined : Number(values.kills),
  only: values.only === undefined ? undefined : new RegExp(values.only),
  durations: { awayMs: 1_000, frozenMs: 6_000, slowMs: 4_000, fullMs: 3_000 },
  patienceMs: 60_000,
  print,
});
printReport(report);
process.exit(report.findings.length === 0 ? 0 : 1);

/** Prints the tables of a day. */
function printReport(report: DayReport): void {
  const { recoveries, left, totals, silences, findings } = report;
  print('\n| write | acknowledged | refused | unknown |\n|---|---|---|---|');
  for (const [kind, { acknowledged, refused, unknown }] of Object.entries(totals))
    print(`| ${kind} | ${acknowledged} | ${refused} | ${unknown} |`);
  print('\n| load | done | longest silence |\n|---|---|---|');
  for (const { name, done, longestSilenceMs } of silences)
    print(`| ${name} | ${done} | ${seconds(longestSilenceMs)} |`);
  print('\n| fault | times | recovery, median | longest |\n|---|---|---|---|');
  const engines = new Set(['PostgreSQL', 'NATS', 'S3', 'mail server', 'disk of the services', 'certificate']);
  const nameOf = ({ kind, target }: Recovery) => `${kind} ${engines.has(target) ? target : 'a process'}`;
  for (const [name, group] of Map.groupBy(recoveries, nameOf)) print(row(name, group));
  if (recoveries.length > 0) print(row('all', recoveries));
  if (left > 0) print(`\n${left} faults did not get their turn.`);
  print(findings.length === 0 ? '\nNothing was lost or doubled.' : `\n${findings.length} findings:`);
  for (const finding of findings) print(`- ${finding}`);
}

function row(name: string, recoveries: readonly Recovery[]): string {
  const times = recoveries
    .map(({ recoveryMs }) => recoveryMs ?? Number.POSITIVE_INFINITY)
    .sort((one, other) => one - other);
  const median = times[Math.floor((times.length - 1) / 2)] ?? 0;
  return `| ${name} | ${times.length} | ${seconds(median)} | ${seconds(times.at(-1) ?? 0)} |`;
}

function seconds(ms: number): string {
  return Number.isFinite(ms) ? `${(ms / 1_000).toFixed(1)} s` : 'over 60 s';
}
