import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@octavo/core';
import { silentLog } from '@octavo/core/log';
import { Registry } from 'prom-client';
import { insertQuote } from '../../../services/quotes/quotes/index.ts';
import { openQuotes } from '../../../services/quotes/service.ts';
import { Corpus } from './corpus.ts';

/** Number of quotes that stay between benchmarks; OCTAVO_BENCH_QUOTES makes fewer. */
export const quoteCount = Number(process.env.OCTAVO_BENCH_QUOTES || 1_000_000);
export const millionFolder = join(tmpdir(), `octavo-bench-quotes-${quoteCount}`);

const batch = 1_000;
const spanMs = 3 * 365 * 86_400_000;
const attributions = ['unverified', 'unverified', 'unverified', 'verified', 'verified', 'disputed'] as const;

/** Makes the quotes at the first call: over three years, one in fifty not published. Returns the settings of the service. */
export async function makeMillion(databaseUrl?: string): Promise<Record<string, string>> {
  const settings = { OCTAVO_DATA: millionFolder, ...(databaseUrl && { DATABASE_URL: databaseUrl }) };
  const done = join(millionFolder, 'done');
  if (!databaseUrl && existsSync(done)) return settings;
  if (!databaseUrl) rmSync(millionFolder, { recursive: true, force: true });
  mkdirSync(millionFolder, { recursive: true });
  const { database, dayKeys } = await openQuotes(settings, {
    log: silentLog,
    clock: systemClock,
    metrics: new Registry(),
    dataFolder: millionFolder,
    environment: 'test',
    host: '127.0.0.1',
    port: 0,
  });
  await using _ = database;
  const corpus = new Corpus(1);
  const startMs = Date.UTC(2023, 0, 1);
  for (let start = 0; start < quoteCount; start += batch) {
    await database.write(
      async (session) => {
        for (let number = start; number < Math.min(quoteCount, start + batch); number++) {
          const attribution = attributions[number % attributions.length] ?? 'unverified';
          const quote = { ...corpus.next(), source: '', attribution, isPublished: number % 50 !== 7 };
          const nowMs = startMs + Math.floor((number / quoteCount) * spanMs);
          // Short quotes of the most frequent words may be there already.
          await insertQuote(session, quote, { nowMs, dayKeys }).catch(ignoreDuplicate);
        }
      },
      { alone: true },
    );
    if ((start + batch) % 100_000 === 0) console.error(`${start + batch} quotes`);
  }
  if (!databaseUrl) mkdirSync(done);
  return settings;
}

function ignoreDuplicate(error: { reason?: string }): void {
  if (error.reason !== 'DUPLICATE_QUOTE') throw error;
}
