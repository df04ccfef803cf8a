import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { AppError, notFound } from '#kit/errors.ts';
import type { EventStream } from '#kit/events/index.ts';
import { newId } from '#kit/ids.ts';
import type { JobQueue } from '#kit/jobs/index.ts';
import { announceReanalysis } from './events.ts';
import { endOpen, findReanalysis, insertReanalysis, latestReanalyses } from './store-reanalyses.ts';
import type { ReanalysisRow, Tables } from './tables.ts';

export const reanalysisKind = 'reanalysis';

interface ReanalysesOptions {
  readonly database: Database<Tables>;
  readonly queue: JobQueue;
  /** Absent where changes are not told. */
  readonly events: EventStream | undefined;
  readonly clock: Clock;
}

/** New analyses of all posts: asked for here, done by workers (reanalysis-run.ts). */
export class Reanalyses {
  readonly #options: ReanalysesOptions;

  constructor(options: ReanalysesOptions) {
    this.#options = options;
  }

  /** Resolves when the queue has the job; gives the reanalysis as it was queued. */
  async request(traceparent?: string): Promise<ReanalysisRow> {
    const { database, queue, events, clock } = this.#options;
    const id = newId();
    const nowMs = clock.now();
    const row = await database.write(async (session) => {
      const inserted = await insertReanalysis.first(session, { id, nowMs });
      const requested = { reanalysisId: id, requestedAtMs: nowMs };
      if (events) await announceReanalysis(session, requested, { traceparent });
      return inserted as ReanalysisRow;
    });
    events?.notify();
    try {
      await queue.add([{ id, kind: reanalysisKind, payload: new Uint8Array(), traceparent }]);
    } catch (error) {
      // The queue may have it all the same: a worker then finds that it was given up.
      const reason = 'the message broker did not take the job';
      await endOpen.run(database, { id, status: 'failed', error: reason, nowMs: clock.now() });
      throw error;
    }
    return row;
  }

  async get(id: string): Promise<ReanalysisRow> {
    const row = await findReanalysis.first(this.#options.database, { id });
    if (!row) throw notFound('reanalysis', id);
    return row;
  }

  latest(limit: number): Promise<ReanalysisRow[]> {
    return latestReanalyses.all(this.#options.database, { limit });
  }

  /** A run that is under way notices within a second. */
  async cancel(id: string): Promise<ReanalysisRow> {
    const { database, clock } = this.#options;
    await endOpen.run(database, { id, status: 'canceled', error: null, nowMs: clock.now() });
    const row = await this.get(id);
    if (row.status !== 'canceled')
      throw new AppError('conflict', `reanalysis ${id} has ${row.status} already`);
    return row;
  }
}
