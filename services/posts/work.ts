import type { Registry } from 'prom-client';
import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import type { EventStream } from '#kit/events/index.ts';
import type { JobQueue } from '#kit/jobs/index.ts';
import type { Log } from '#kit/log.ts';
import { beginSpan, type Tracer, withinSpans } from '#kit/tracing/tracer.ts';
import type { Classifier } from './classifier.ts';
import { startEnrichment } from './enrichment.ts';
import { reanalysisKind } from './reanalyses.ts';
import { runReanalysis } from './reanalysis-run.ts';
import { endOpen, forgotten, noteSeen } from './store-reanalyses.ts';
import type { Tables } from './tables.ts';

export interface WorkParts {
  readonly database: Database<Tables>;
  /** Absent where it is switched off, as are the two below. */
  readonly classifier: Classifier | undefined;
  readonly queue: JobQueue | undefined;
  readonly events: EventStream | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly leaseMs: number;
  readonly metrics: Registry;
  readonly tracer?: Tracer | undefined;
}

const attemptsMax = 8;
const lookEveryMs = 15_000;

/** Starts what is done behind the requests: reanalyses, the publishing of events, the classification of new posts. */
export function startWork(parts: WorkParts): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  const { classifier, queue, events } = parts;
  if (events) stack.use(events.publish());
  if (events && classifier) stack.use(startEnrichment({ ...parts, classifier, events }));
  if (queue) {
    stack.use(startReanalyses(parts, queue));
    stack.use(rememberForgotten(parts, queue));
  }
  return stack;
}

function startReanalyses(parts: WorkParts, queue: JobQueue): AsyncDisposable {
  const { database, clock } = parts;
  return queue.work(
    {
      kind: reanalysisKind,
      concurrency: 1,
      attemptsMax,
      onDead: async ({ id }, error) => {
        await endOpen.run(database, { id, status: 'failed', error, nowMs: clock.now() });
      },
    },
    (job, signal) => {
      const attributes = { 'octavo.job.id': job.id, 'octavo.job.attempt': job.attempt };
      const { kind, traceparent } = job;
      const span = beginSpan(parts.tracer, {
        name: `job ${kind}`,
        kind: 'consumer',
        traceparent,
        attributes,
      });
      const traced = { ...job, traceparent: span.traceparent };
      return withinSpans([span], () => runReanalysis(parts, traced, signal));
    },
  );
}

/** Queues once more what the queue may have lost: nobody was heard of for several leases. */
function rememberForgotten({ database, clock, leaseMs, log }: WorkParts, queue: JobQueue): AsyncDisposable {
  const look = async (): Promise<void> => {
    try {
      for (const { id } of await forgotten.all(database, { sinceMs: clock.now() - 4 * leaseMs })) {
        await noteSeen.run(database, { id, nowMs: clock.now() });
        await queue.add([{ id, kind: reanalysisKind, payload: new Uint8Array() }]);
      }
    } catch (error) {
      log.debug({ err: error }, 'forgotten reanalyses wait');
    }
  };
  const timer = setInterval(() => void look(), lookEveryMs).unref();
  return { [Symbol.asyncDispose]: async () => clearInterval(timer) };
}
