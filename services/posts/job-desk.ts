import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import type { DeadJob, JobQueue } from '#kit/jobs/index.ts';
import { failAgain, reopen } from './store-reanalyses.ts';
import type { Tables } from './tables.ts';

interface JobDeskOptions {
  readonly database: Database<Tables>;
  readonly queue: JobQueue;
  readonly clock: Clock;
}

/** Dead jobs, for those who look after them. */
export class JobDesk {
  readonly #options: JobDeskOptions;

  constructor(options: JobDeskOptions) {
    this.#options = options;
  }

  /** The latest, newest first. */
  dead(limit: number): Promise<DeadJob[]> {
    return this.#options.queue.dead(limit);
  }

  /** Has one done again, with all its attempts. Throws `not_found`. */
  async retry(id: string): Promise<void> {
    const { database, queue, clock } = this.#options;
    const nowMs = clock.now();
    // First the row, so that whoever gets the job finds it open.
    const { changes } = await reopen.run(database, { id, nowMs });
    try {
      await queue.revive(id);
    } catch (error) {
      if (changes > 0) await failAgain.run(database, { id, nowMs });
      throw error;
    }
  }
}
