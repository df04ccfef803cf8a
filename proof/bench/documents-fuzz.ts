/**
 * Damaged documents: files of a folder and small ones of our own, with bytes, or members of their archives, changed at random. They are
 * read in processes that are used again, with the limits of the process that reads uploads. Counts what must not be: a crash, more than 5 s of
 * processor time, more memory than allowed. A file of which the first way of reading takes too much is read in the other way that there is
 * for its type, as an upload is, and counts as `second` where that goes well. A file is the same for its number and the seed; those that
 * are found are written to a folder.
 *
 *   npx node proof/bench/documents-fuzz.ts FOLDER [--count 10000] [--from 0] [--seed 1] [--processes 2] [--found DIR]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { processorTimeMs, residentBytes, runEvery } from '@octavo/core/concurrency';
import { hasFallback, limits } from '@octavo/documents';
import { damagedFile, originalsIn } from './documents/fuzz-files.ts';
import type { FuzzReply } from './documents/fuzz-process.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '10000' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    processes: { type: 'string', default: '2' },
    found: { type: 'string', default: '' },
  },
});
const [folder = ''] = positionals;
const hangMs = 5_000;
const heapMib = 384;
const tellEvery = 1_000;

if (folder === '' || !existsSync(folder)) {
  console.log('skipped: name a folder of documents');
  process.exit(0);
}
const originals = originalsIn(folder);
const [seed, first, processes] = [Number(values.seed), Number(values.from), Number(values.processes)];
const count = first + Number(values.count);
const counts = { read: 0, refused: 0, internal: 0, second: 0, hang: 0, memory: 0, crash: 0 };
const causes = new Map<string, number>();
const startedMs = performance.now();
await Promise.all(Array.from({ length: processes }, (_, place) => readAll(first + place)));
tellCounts();
for (const [cause, times] of [...causes].sort((one, other) => other[1] - one[1])) console.log(times, cause);
process.exit(counts.hang + counts.memory + counts.crash > 0 ? 1 : 0);

/** Reads the files of one of the processes, in one process after another. */
async function readAll(from: number): Promise<void> {
  let next: Next = { index: from, usesFallback: false };
  while (next.index < count) next = await readFrom(next);
}

/** A file, and whether it is read in the other way since the first took too much. */
interface Next {
  readonly index: number;
  readonly usesFallback: boolean;
}

/** Reads until the process ends. */
async function readFrom({ index: from, usesFallback }: Next): Promise<Next> {
  const args = [folder, seed, from, processes, count, usesFallback ? 'fallback' : ''].map(String);
  const child = fork(new URL('./documents/fuzz-process.ts', import.meta.url), args, {
    execArgv: [`--max-old-space-size=${heapMib}`, '--max-semi-space-size=8'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const state: { next: number; reading?: FuzzReply | undefined; problem?: 'hang' | 'memory' } = {
    next: from,
  };
  let processorMsBefore = Promise.resolve(0);
  child.on('message', (reply: FuzzReply) => {
    state.next = reply.index + (reply.outcome ? processes : 0);
    state.reading = reply.outcome ? undefined : reply;
    const isSecond = usesFallback && reply.index === from && reply.outcome !== 'internal';
    if (reply.outcome) note(isSecond ? 'second' : reply.outcome, reply.cause);
    else processorMsBefore = processorTimeMs(child.pid);
  });
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  using _watching = runEvery(100, async () => {
    const index = state.reading?.index;
    const found = await problemOf(child, await processorMsBefore);
    if (!found || index === undefined || state.reading?.index !== index) return;
    state.problem ??= found;
    child.kill('SIGKILL');
  });
  const { code, signal } = await ended;
  const { next, reading, problem } = state;
  if (!reading) {
    if (code !== 0) throw new Error(`a process ended with ${code ?? signal} between two files`);
    return { index: next, usesFallback: false };
  }
  // V8 aborts where the heap is full.
  const outcome = problem ?? (signal === 'SIGABRT' || code === 134 ? 'memory' : 'crash');
  const isFirst = !(usesFallback && reading.index === from);
  keep(isFirst ? `${outcome}, first way` : outcome, reading);
  const { mediaType } = damagedFile(originals, seed, reading.index);
  if (isFirst && hasFallback(mediaType)) return { index: reading.index, usesFallback: true };
  note(outcome, undefined);
  return { index: reading.index + processes, usesFallback: false };
}

async function problemOf(child: ChildProcess, processorMsBefore: number) {
  if ((await processorTimeMs(child.pid)) - processorMsBefore > hangMs) return 'hang';
  return (await residentBytes(child.pid)) > limits.parseMemoryBytes ? 'memory' : undefined;
}

function note(outcome: keyof typeof counts, cause: string | undefined): void {
  counts[outcome]++;
  if (cause !== undefined) causes.set(cause, (causes.get(cause) ?? 0) + 1);
  const done = Object.values(counts).reduce((sum, each) => sum + each, 0);
  if (done % tellEvery === 0) tellCounts();
}

function tellCounts(): void {
  console.log(`${Math.round((performance.now() - startedMs) / 1_000)} s:`, counts);
}

function keep(outcome: string, { index, name }: FuzzReply): void {
  console.log(`${outcome}: ${name}, file ${index}`);
  if (values.found === '') return;
  mkdirSync(values.found, { recursive: true });
  writeFileSync(join(values.found, `${index}-${name}`), damagedFile(originals, seed, index).bytes);
}
