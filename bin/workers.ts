import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { stopSignal } from './stop-signal.ts';

const shortestLifeMs = 1_000;

/**
 * Runs this command line in several worker processes that share its ports until a signal, then passes the signal on and gives
 * the worst exit code. What a worker tells when it is ready is printed once, when all are. Until then one that dies ends them all,
 * since the next would die of the same; from then on it is replaced.
 */
export async function supervise(count: number): Promise<number> {
  const stopped = stopSignal();
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
 * Resolves with the exit code of the last incarnation of one worker. The signal to stop may meet one that has not started to listen
 * for it: that is a clean end as well.
 */
async function keepAlive(stopping: AbortSignal, settled: () => boolean): Promise<number> {
  for (;;) {
    const startedAtMs = performance.now();
    const [exitCode, signal] = await exitOf(cluster.fork());
    const code = exitCode ?? (stopping.aborted && signal === 'SIGTERM' ? 0 : 1);
    if (stopping.aborted || !settled()) return code;
    process.stderr.write(`octavo: a worker ended with ${code} and is replaced\n`);
    await sleep(startedAtMs + shortestLifeMs - performance.now(), undefined, { signal: stopping }).catch(
      () => {},
    );
    if (stopping.aborted) return 0;
  }
}

async function exitOf(worker: Worker): Promise<[code: number | null, signal: string | null]> {
  return (await once(worker, 'exit')) as [number | null, string | null];
}
