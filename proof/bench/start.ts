/**
 * `npm start` on an empty data folder and on one that exists: from the start of the process until it says that it is ready, and its resident
 * memory ten seconds later. Beside it, a bare Node process that prints a line.
 *
 *   node proof/bench/start.ts [rounds]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { testFolder } from '@octavo/testing';

const rounds = Number(process.argv[2] ?? 5);
const entry = join(import.meta.dirname, '../../apps/octavo/octavo.js');
const restMs = 10_000;

for (let round = 1; round <= rounds; round++) {
  const folder = testFolder('bench');
  const bare = await start(['-e', 'console.log("Ready")']);
  const first = await start(['--max-semi-space-size=8', entry, 'up', '--port', '0', '--data', folder]);
  const again = await start(
    ['--max-semi-space-size=8', entry, 'up', '--port', '0', '--data', folder],
    round === rounds,
  );
  console.log(
    `bare node ${bare.readyMs.toFixed(0)} ms; first start ${first.readyMs.toFixed(0)} ms; next start ${again.readyMs.toFixed(0)} ms` +
      (again.restMegabytes === undefined ? '' : `; at rest ${again.restMegabytes.toFixed(0)} MB`),
  );
}

async function start(args: readonly string[], isWeighed = false) {
  const startedMs = performance.now();
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('Ready')) break;
  const readyMs = performance.now() - startedMs;
  let restMegabytes: number | undefined;
  if (isWeighed) {
    await setTimeout(restMs);
    restMegabytes =
      (Number(readFileSync(`/proc/${child.pid}/statm`, 'utf8').split(' ')[1]) * 4_096) / 1024 ** 2;
  }
  child.kill('SIGTERM');
  await ended;
  return { readyMs, restMegabytes };
}
