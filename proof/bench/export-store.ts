/**
 * Export of a million posts over HTTP with a copy into the object store, a folder and an S3 server in a process of its own, beside the same
 * without. Rounds alternate; the median of each counts. Also: how long after the client the copy was there, and what memory grew by.
 *
 *   node proof/bench/export-store.ts [rounds]
 */
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startS3 } from '@octavo/testing/engines';
import { type BenchGateway, startGateway } from './lib/gateway.ts';
import { millionFolder, openMillion } from './million.ts';

interface Round {
  readonly seconds: number;
  readonly megabytes: number;
  readonly copySeconds: number;
  readonly grownMegabytes: number;
}

const rounds = Number(process.argv[2] ?? 3);
const megabyte = 1024 ** 2;
await (await openMillion())[Symbol.asyncDispose]();
await using s3 = await startS3();
// It stands for a server on another machine, and would else take the CPU from what is measured.
setPriority(s3.pid, 19);
const places = {
  'without a copy': { OBJECT_STORE: 'off' },
  'into a folder': { OBJECT_STORE: 'on' },
  'into S3': {
    S3_ENDPOINT: s3.endpoint,
    S3_BUCKET: s3.bucket,
    S3_ACCESS_KEY_ID: s3.credentials.accessKeyId,
    S3_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
  },
} as const;

const measured = new Map<string, Round[]>(Object.keys(places).map((place) => [place, []]));
for (let round = 0; round < rounds; round++) {
  for (const [place, settings] of Object.entries(places)) {
    await using gateway = await startGateway('one', millionFolder, settings);
    measured.get(place)?.push(await measure(gateway));
    await rm(join(millionFolder, 'objects', 'exports'), { recursive: true, force: true });
  }
}

const floor = middle('without a copy', 'seconds');
for (const place of measured.keys()) {
  const seconds = middle(place, 'seconds');
  const speed = middle(place, 'megabytes') / seconds;
  console.log(
    `${place.padEnd(15)} ${seconds.toFixed(2)} s, ${speed.toFixed(0)} MB/s, ${(seconds / floor).toFixed(2)} times; ` +
      `copy there ${middle(place, 'copySeconds').toFixed(2)} s later; memory +${middle(place, 'grownMegabytes').toFixed(0)} MB`,
  );
}

async function measure(gateway: BenchGateway): Promise<Round> {
  await drain(gateway, '?userId=1');
  const before = memoryMegabytes(gateway);
  const startedMs = performance.now();
  const { bytes, peakMegabytes } = await drain(gateway, '');
  const endedMs = performance.now();
  while ((await figure(gateway, 'export_copies_under_way')) > 0) await setTimeout(20);
  const lost = await figure(gateway, 'export_copies_total{outcome="too_slow"}');
  const failed = await figure(gateway, 'export_copies_total{outcome="failed"}');
  if (lost + failed > 0) throw new Error('an export was not stored');
  return {
    seconds: (endedMs - startedMs) / 1_000,
    megabytes: bytes / megabyte,
    copySeconds: (performance.now() - endedMs) / 1_000,
    grownMegabytes: peakMegabytes - before,
  };
}

async function drain(
  gateway: BenchGateway,
  query: string,
): Promise<{ bytes: number; peakMegabytes: number }> {
  const headers = { ...gateway.headers, 'accept-encoding': 'identity' };
  const response = await fetch(`${gateway.url}/api/v1/posts/export${query}`, { headers });
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
  return { bytes, peakMegabytes };
}

/** Value of a metric; 0 without one of the name. */
async function figure({ url }: BenchGateway, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1] ?? 0,
  );
}

/** Resident memory of all processes. */
function memoryMegabytes({ processes }: BenchGateway): number {
  const pages = processes.map(({ pid }) => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]));
  return pages.reduce((sum, count) => sum + (count * 4_096) / megabyte, 0);
}

function middle(place: string, key: keyof Round): number {
  const values = (measured.get(place) ?? []).map((round) => round[key]).sort((one, other) => one - other);
  return values[Math.floor(values.length / 2)] ?? 0;
}
