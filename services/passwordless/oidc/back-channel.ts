import type { Clock } from '#kit/base/clock.ts';
import type { Log } from '#kit/base/log.ts';
import { runEvery } from '#kit/concurrency/run-every.ts';
import type { Database } from '#kit/db/index.ts';
import type { Tables } from '../store/store.ts';
import {
  claimLogout,
  deleteLogout,
  dueLogouts,
  endedSessions,
  endSession,
  postponeLogout,
  type WaitingLogout,
} from './store-logouts.ts';

const pollMs = 1_000;
/** Waits between the tries to tell an application: 5 s, doubled up to 5 minutes. */
const [firstWaitMs, longestWaitMs] = [5_000, 300_000];
/** Longer than a try takes, so that another replica tries again only after a crash. */
const leaseMs = 30_000;

/** Tells an application that a user signed out (OpenID Connect Back-Channel Logout 1.0). Throws if it does not confirm. */
export type TellClient = (logout: {
  readonly clientId: string;
  readonly userId: string;
  readonly sid: string;
}) => Promise<void>;

interface BackChannelOptions {
  readonly database: Database<Tables>;
  readonly clock: Clock;
  readonly log: Log;
  readonly tell: TellClient;
}

/** Ends the sessions of ended sign-ins, and tells applications about it until they confirm, for an hour. Several processes may do it at once. */
export class BackChannel {
  readonly #options: BackChannelOptions;

  constructor(options: BackChannelOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { database, clock } = this.#options;
    for (const uid of await endedSessions(database)) await endSession(database, clock, uid);
    const due = await dueLogouts(database, clock.now());
    await Promise.all(due.map((logout) => this.#try(logout)));
  }

  async #try(logout: WaitingLogout): Promise<void> {
    const { database, clock, log, tell } = this.#options;
    const { id, client_id: clientId, user_id: userId, sid, tries } = logout;
    if (!(await claimLogout(database, logout, clock.now() + leaseMs))) return;
    try {
      await tell({ clientId, userId, sid });
    } catch (error) {
      const nextMs = clock.now() + Math.min(firstWaitMs * 2 ** tries, longestWaitMs);
      const isLast = nextMs >= logout.expires_at_ms;
      const facts = { err: error, client: clientId, tries: tries + 1 };
      if (!isLast) {
        log.warn(facts, 'application was not told of a sign-out; it is tried again');
        return postponeLogout(database, id, nextMs);
      }
      log.error(facts, 'application was not told of a sign-out for an hour');
    }
    await deleteLogout(database, id);
  }

  /** Runs every second. Disposing of it waits for the current run. */
  start(): AsyncDisposable {
    const { log } = this.#options;
    return runEvery(pollMs, () => this.run(), { log, failure: 'sign-outs could not be passed on' });
  }
}
