import { runEvery } from '@octavo/core/concurrency';
import { beginSpan, type Tracer, withinSpans } from '@octavo/core/tracing';
import type { JobQueue } from '@octavo/data/jobs';
import { reanalysisKind } from './reanalyses.ts';
import { type RunParts, runReanalysis } from './run.ts';
import { endOpen, findForgotten, markSeen } from './store.ts';

interface WorkerParts extends RunParts {
  readonly queue: JobQueue;
  readonly tracer?: Tracer | undefined;
}

const attemptsMax = 8;
const lookEveryMs = 5_000;
/** Leases without a report, after which the job counts as lost. */
const silentLeases = 2;

/** Runs reanalyses from the queue, one at a time, and queues again those whose job was lost. */
export function startReanalyses(parts: WorkerParts): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  stack.use(startWorker(parts));
  stack.use(requeueForgotten(parts));
  return stack;
}

function startWorker(parts: WorkerParts): AsyncDisposable {
  const { database, clock, queue, tracer } = parts;
  const onDead = async ({ id }: { id: string }, error: string) => {
    await endOpen(database, { id, status: 'failed', error, nowMs: clock.now() });
  };
  return queue.work({ kind: reanalysisKind, concurrency: 1, attemptsMax, onDead }, (job, signal) => {
    const { id, kind, attempt, traceparent } = job;
    const attributes = { 'octavo.job.id': id, 'octavo.job.attempt': attempt };
    const span = beginSpan(tracer, { name: `job ${kind}`, kind: 'consumer', traceparent, attributes });
    const traced = { ...job, traceparent: span.traceparent };
    return withinSpans([span], () => runReanalysis(parts, traced, signal));
  });
}

/** Queues reanalyses without a report for some time again: the queue may have lost their jobs. */
function requeueForgotten({ database, clock, leaseMs, log, queue }: WorkerParts): AsyncDisposable {
  const look = async (): Promise<void> => {
    for (const { id } of await findForgotten(database, clock.now() - silentLeases * leaseMs)) {
      await markSeen(database, id, clock.now());
      await queue.add([{ id, kind: reanalysisKind, payload: new Uint8Array() }]);
    }
  };
  return runEvery(lookEveryMs, look, { log, failure: 'lost reanalyses could not be queued again' });
}
