import type { Clock } from '@octavo/core';
import { AppError, newId, notFound } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { EventStream } from '@octavo/data/events';
import type { DeadJob, JobQueue } from '@octavo/data/jobs';
import type { RpcContext } from '@octavo/rpc';
import type { Tables } from '../database.ts';
import { announceReanalysis } from '../events/index.ts';
import { type Caller, throwIfLate } from '../posts/index.ts';
import {
  endOpen,
  failAgain,
  findReanalysis,
  insertReanalysis,
  latestReanalyses,
  type Reanalysis,
  reopen,
} from './store.ts';

export const reanalysisKind = 'reanalysis';

export interface ReanalysisParts {
  readonly database: Database<Tables>;
  readonly queue: JobQueue;
  readonly clock: Clock;
}

/** Resolves when the queue has the job; gives the reanalysis as it was queued. `events` is absent where they are off. */
export async function requestReanalysis(
  { database, queue, clock, events }: ReanalysisParts & { readonly events: EventStream | undefined },
  call: Caller & Pick<RpcContext, 'traceparent'>,
): Promise<Reanalysis> {
  const { traceparent } = call;
  const id = newId();
  const nowMs = clock.now();
  const reanalysis = await database.write(async (session) => {
    const inserted = await insertReanalysis(session, id, nowMs);
    const requested = { reanalysisId: id, requestedAtMs: nowMs };
    if (events) await announceReanalysis(session, requested, { traceparent });
    throwIfLate(call);
    return inserted as Reanalysis;
  });
  events?.notify();
  try {
    await queue.add([{ id, kind: reanalysisKind, payload: new Uint8Array(), traceparent }]);
  } catch (error) {
    // The queue may have it all the same: a worker then finds that it has failed.
    const reason = 'the message broker did not take the job';
    await endOpen(database, { id, status: 'failed', error: reason, nowMs: clock.now() });
    throw error;
  }
  return reanalysis;
}

export async function getReanalysis(database: Database<Tables>, id: string): Promise<Reanalysis> {
  const reanalysis = await findReanalysis(database, { id });
  if (!reanalysis) throw notFound('reanalysis', id);
  return reanalysis;
}

/** The latest, newest first. */
export function listReanalyses(database: Database<Tables>, limit: number): Promise<Reanalysis[]> {
  return latestReanalyses(database, limit);
}

/** A run that is under way notices within a second. */
export async function cancelReanalysis(
  { database, clock }: Pick<ReanalysisParts, 'database' | 'clock'>,
  id: string,
  call: Caller,
): Promise<Reanalysis> {
  await database.write(async (session) => {
    await endOpen(session, { id, status: 'canceled', error: null, nowMs: clock.now() });
    throwIfLate(call);
  });
  const reanalysis = await getReanalysis(database, id);
  if (reanalysis.status === 'canceled') return reanalysis;
  throw new AppError('conflict', `Reanalysis ${id} has already ${reanalysis.status}.`);
}

/** Jobs that have failed for good, for the command line. */
export interface DeadJobs {
  /** The latest, newest first. */
  list(limit: number): Promise<DeadJob[]>;
  /** Queues a job again with all its attempts. Throws `not_found`. */
  retry(id: string): Promise<void>;
}

export function deadJobs({ database, queue, clock }: ReanalysisParts): DeadJobs {
  return {
    list: (limit) => queue.dead(limit),
    retry: async (id) => {
      const nowMs = clock.now();
      // The row first, so that the worker finds it open.
      const { numUpdatedRows } = await reopen(database, id, nowMs);
      try {
        await queue.revive(id);
      } catch (error) {
        if (numUpdatedRows > 0n) await failAgain(database, id, nowMs);
        throw error;
      }
    },
  };
}
