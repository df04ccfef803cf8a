import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { stopSignal } from '../terminal/stop-signal.ts';

const shortestLifeMs = 1_000;
/** Longer than that of a worker, which ends itself. */
const graceMs = 32_000;

/**
 * Runs this command in several worker processes that share its ports. On SIGINT or SIGTERM, stops them and returns the highest
 * exit code. Workers send what to print when they are ready; it is printed once, when all are. Before that, a worker that
 * dies stops them all, because its replacement would die too. After that, it is replaced.
 */
export async function supervise(count: number): Promise<number> {
  const stopped = stopSignal({ graceMs });
  const stopping = new AbortController();
  let ready = 0;
  cluster.on('message', (_worker, lines: string) => {
    ready += 1;
    if (ready === count) process.stdout.write(lines);
  });
  const ended = Array.from({ length: count }, () => keepAlive(stopping.signal, () => ready >= count));
  await Promise.race([stopped, ...ended]);
  stopping.abort();
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM');
  return Math.max(...(await Promise.all(ended)));
}

/**
 * Resolves with the exit code of the last process of one worker. A worker that gets the signal before it has a handler for it
 * counts as stopped cleanly.
 */
async function keepAlive(stopping: AbortSignal, settled: () => boolean): Promise<number> {
  for (;;) {
    const startedAtMs = performance.now();
    const [exitCode, signal] = await exitOf(cluster.fork());
    const code = exitCode ?? (stopping.aborted && signal === 'SIGTERM' ? 0 : 1);
    if (stopping.aborted || !settled()) return code;
    process.stderr.write(`octavo: a worker exited with ${code} and is replaced\n`);
    await sleep(startedAtMs + shortestLifeMs - performance.now(), undefined, { signal: stopping }).catch(
      () => {},
    );
    if (stopping.aborted) return 0;
  }
}

async function exitOf(worker: Worker): Promise<[code: number | null, signal: string | null]> {
  return (await once(worker, 'exit')) as [number | null, string | null];
}
