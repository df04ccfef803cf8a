/** Sends odd requests to all services: `node proof/fuzz.ts [--seed N] [--seconds N] [--database URL] [NAME...]`. */
import { parseArgs } from 'node:util';
import { runFuzz } from './fuzz/run.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    seconds: { type: 'string', default: '60' },
    database: { type: 'string', default: '' },
  },
});
const { findings, summary } = await runFuzz({
  seed: Number(values.seed),
  seconds: Number(values.seconds),
  databaseUrl: values.database,
  names: positionals,
});
for (const line of [...findings, ...summary]) process.stdout.write(`${line}\n`);
process.exitCode = findings.length > 0 ? 1 : 0;
