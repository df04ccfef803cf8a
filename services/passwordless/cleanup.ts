import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import type { Log } from '#kit/log.ts';
import { deleteExpiredLinks } from './magic-links/index.ts';
import { deleteExpiredCeremonies } from './passkeys/index.ts';
import { deleteExpiredSessions } from './sessions/index.ts';
import type { Tables } from './store.ts';
import { deleteOldEvents } from './store-audit.ts';
import { deletePendingSecrets } from './totp/index.ts';
import { deleteIdleUsers, deleteOldFailures } from './users/index.ts';

interface CleanupOptions {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly log: Log;
  readonly auditDays: number;
}

const everyMs = 60_000;
const dayMs = 86_400_000;
/** Expired links and tokens are kept this long, so that the error says that they expired and not that they are unknown. */
const graceMs = dayMs;

/** Deletes expired rows of all features, a limited number at a time. Several processes may do it at once. */
export class Cleanup {
  readonly #options: CleanupOptions;

  constructor(options: CleanupOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { database, clock, auditDays } = this.#options;
    const nowMs = clock.now();
    await deleteExpiredLinks.run(database, { beforeMs: nowMs - graceMs });
    await deleteExpiredSessions.run(database, { beforeMs: nowMs - graceMs });
    await deleteExpiredCeremonies.run(database, { nowMs });
    await deletePendingSecrets.run(database, { beforeMs: nowMs - dayMs });
    await deleteIdleUsers.run(database, { beforeMs: nowMs - dayMs });
    await deleteOldFailures(database, nowMs);
    await deleteOldEvents.run(database, { beforeMs: nowMs - auditDays * dayMs });
  }

  /** Runs every minute. Disposing of it waits for the current run. */
  start(): AsyncDisposable {
    let running: Promise<void> = Promise.resolve();
    const timer = setInterval(() => {
      running = this.run().catch((error) =>
        this.#options.log.error({ err: error }, 'expired rows could not be deleted'),
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
