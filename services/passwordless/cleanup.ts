import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import type { Log } from '#kit/log.ts';
import { failuresKeptMs } from './attempts.ts';
import { deleteExpiredCeremonies } from './passkeys/index.ts';
import { deleteOldFailures } from './store-attempts.ts';
import {
  deleteIdleUsers,
  deleteOldEvents,
  deleteOldPending,
  deleteOldSessionsBefore,
} from './store-cleanup.ts';
import { deleteOldLinks } from './store-magic.ts';
import type { Tables } from './tables.ts';

interface CleanupOptions {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly log: Log;
  readonly auditDays: number;
}

const everyMs = 60_000;
const dayMs = 86_400_000;
/** Until then a link or a token that comes late is told that it has expired, rather than that it is unknown. */
const graceMs = dayMs;

/** Removes what is over, a slice of each kind at a time; several processes may do it at once. */
export class Cleanup {
  readonly #options: CleanupOptions;

  constructor(options: CleanupOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { database, clock, auditDays } = this.#options;
    const nowMs = clock.now();
    await deleteOldLinks.run(database, { beforeMs: nowMs - graceMs });
    await deleteOldSessionsBefore.run(database, { beforeMs: nowMs - graceMs });
    await deleteExpiredCeremonies.run(database, { nowMs });
    await deleteOldPending.run(database, { beforeMs: nowMs - dayMs });
    await deleteIdleUsers.run(database, { beforeMs: nowMs - dayMs });
    await deleteOldFailures.run(database, { beforeMs: nowMs - failuresKeptMs });
    await deleteOldEvents.run(database, { beforeMs: nowMs - auditDays * dayMs });
  }

  /** Runs every minute until disposed of, and then ends what it is at. */
  repeating(): AsyncDisposable {
    let running: Promise<void> = Promise.resolve();
    const timer = setInterval(() => {
      running = this.run().catch((error) =>
        this.#options.log.error({ err: error }, 'what is over could not be removed'),
      );
    }, everyMs).unref();
    return {
      async [Symbol.asyncDispose]() {
        clearInterval(timer);
        await running;
      },
    };
  }
}
