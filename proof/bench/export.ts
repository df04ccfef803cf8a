/**
 * Export of a million posts as JSON over HTTP, as one process and as three, beside a bare scan of the same rows with JSON.stringify; what it
 * adds to the memory of the processes, and how long other requests wait during it.
 *
 *   node proof/bench/export.ts [rounds]
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { type BenchGateway, startGateway } from './lib/gateway.ts';
import { quantiles } from './lib/load.ts';
import { millionFolder, openMillion } from './million.ts';

const rounds = Number(process.argv[2] ?? 3);
const megabyte = 1024 ** 2;
const aloneMs = 4_000;
await (await openMillion())[Symbol.asyncDispose]();

const floor = Math.max(...Array.from({ length: rounds }, bareScan));
console.log(`bare scan and JSON.stringify  ${floor.toFixed(0)} MB/s`);
for (const mode of ['one', 'three'] as const) {
  await using gateway = await startGateway(mode, millionFolder);
  for (let round = 1; round <= rounds; round++) {
    const others = watchOthers(gateway);
    // What the others alone come to is not the export's.
    await setTimeout(aloneMs);
    const before = memoryMegabytes(gateway);
    others.forget();
    const { megabytesPerSecond, peakMegabytes } = await drain(gateway);
    const { p50Ms, p99Ms } = await others.stop();
    console.log(
      `${mode.padEnd(5)} export ${round}  ${megabytesPerSecond.toFixed(0)} MB/s, ${(megabytesPerSecond / floor).toFixed(2)} of it; ` +
        `memory +${(peakMegabytes - before).toFixed(0)} MB; others p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)} ms`,
    );
  }
}

function bareScan(): number {
  using database = new DatabaseSync(join(millionFolder, 'posts.sqlite'), { readOnly: true });
  const rows = database
    .prepare('select id, user_id, title, body, created_at_ms, updated_at_ms from post order by id')
    .iterate();
  const startedMs = performance.now();
  let bytes = 0;
  for (const row of rows) bytes += Buffer.byteLength(JSON.stringify(row));
  return bytes / megabyte / ((performance.now() - startedMs) / 1_000);
}

async function drain(gateway: BenchGateway): Promise<{ megabytesPerSecond: number; peakMegabytes: number }> {
  const startedMs = performance.now();
  const response = await fetch(`${gateway.url}/api/v1/posts/export`, {
    headers: { ...gateway.headers, 'accept-encoding': 'identity' },
  });
  if (!response.ok || !response.body) throw new Error(`the export answered ${response.status}`);
  let bytes = 0;
  let peakMegabytes = 0;
  let lookedAtMs = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (performance.now() - lookedAtMs < 100) continue;
    lookedAtMs = performance.now();
    peakMegabytes = Math.max(peakMegabytes, memoryMegabytes(gateway));
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  return { megabytesPerSecond: bytes / megabyte / seconds, peakMegabytes };
}

/** Reads one post after another until stopped. */
function watchOthers({ url, headers }: BenchGateway) {
  let durationsMs: number[] = [];
  let isStopped = false;
  const watched = (async () => {
    while (!isStopped) {
      const startedMs = performance.now();
      await (await fetch(`${url}/api/v1/posts/1000`, { headers })).arrayBuffer();
      durationsMs.push(performance.now() - startedMs);
    }
  })();
  return {
    forget() {
      durationsMs = [];
    },
    async stop() {
      isStopped = true;
      await watched;
      return quantiles(durationsMs);
    },
  };
}

/** Resident memory of all processes. */
function memoryMegabytes({ processes }: BenchGateway): number {
  const pages = processes.map(({ pid }) => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]));
  return pages.reduce((sum, count) => sum + (count * 4_096) / megabyte, 0);
}
