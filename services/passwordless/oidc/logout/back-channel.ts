import type { Clock, Log } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import type { Database } from '@octavo/data';
import type { Tables } from '../../store/store.ts';
import {
  claimLogout,
  deleteLogout,
  dueClients,
  dueLogouts,
  endedSessions,
  endSession,
  postponeLogout,
  setClientWait,
  type WaitingLogout,
} from './store-logouts.ts';

const pollMs = 1_000;
/** Messages to one application at the same time. */
const togetherMax = 4;
/** Waits of a message that was refused: 5 s, doubled up to 5 minutes. */
const [firstWaitMs, longestWaitMs] = [5_000, 300_000];
/** Longest wait for an application that does not answer. */
const longestSilenceMs = 60_000;
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

/**
 * Ends the sessions of ended sign-ins, and tells applications about it until they confirm, for an hour. Applications are told side by side, so
 * that one that hangs delays no other. Several processes may do it at once.
 */
export class BackChannel {
  readonly #options: BackChannelOptions;
  /** Applications that are being told. */
  readonly #telling = new Map<string, Promise<void>>();
  #isStopping = false;

  constructor(options: BackChannelOptions) {
    this.#options = options;
  }

  /** Works every second. Disposing of it waits for messages that are on their way. */
  start(): AsyncDisposable {
    const { log } = this.#options;
    const ending = runEvery(pollMs, () => this.#end(), { log, failure: 'sessions could not be ended' });
    const failure = 'sign-outs could not be passed on';
    const telling = runEvery(pollMs, () => this.#tellAll(), { log, failure });
    return {
      [Symbol.asyncDispose]: async () => {
        this.#isStopping = true;
        await Promise.all([ending[Symbol.asyncDispose](), telling[Symbol.asyncDispose]()]);
        await Promise.all(this.#telling.values());
      },
    };
  }

  async #end(): Promise<void> {
    const { database, clock } = this.#options;
    while (!this.#isStopping) {
      const ended = await endedSessions(database);
      if (ended.length === 0) return;
      for (const uid of ended) await endSession(database, clock, uid);
    }
  }

  /** Begins to tell each application that has messages. It does not wait for them. */
  async #tellAll(): Promise<void> {
    const { database, clock, log } = this.#options;
    for (const client of await dueClients(database, clock.now())) {
      if (this.#isStopping || this.#telling.has(client.id)) continue;
      const telling = this.#tellClient(client)
        .catch((err) => log.warn({ err, client: client.id }, 'sign-outs could not be passed on'))
        .finally(() => this.#telling.delete(client.id));
      this.#telling.set(client.id, telling);
    }
  }

  /** Tells one application of all that is due, until it does not answer. */
  async #tellClient({ id, failedTries }: { id: string; failedTries: number }): Promise<void> {
    const { database, clock } = this.#options;
    let waited = failedTries > 0;
    while (!this.#isStopping) {
      const due = await dueLogouts(database, { clientId: id, nowMs: clock.now(), count: togetherMax });
      if (due.length === 0) return;
      const answered = await Promise.all(due.map((logout) => this.#try(logout)));
      if (answered.includes(false)) {
        const untilMs = clock.now() + Math.min(firstWaitMs * 2 ** failedTries, longestSilenceMs);
        return setClientWait(database, id, { failedTries: failedTries + 1, untilMs });
      }
      if (waited) await setClientWait(database, id, { failedTries: 0, untilMs: 0 });
      waited = false;
    }
  }

  /** Returns false if the application did not answer. */
  async #try(logout: WaitingLogout): Promise<boolean> {
    const { database, clock, log, tell } = this.#options;
    const { id, client_id: clientId, user_id: userId, sid, tries } = logout;
    if (!(await claimLogout(database, logout, clock.now() + leaseMs))) return true;
    try {
      await tell({ clientId, userId, sid });
    } catch (error) {
      const answers = isAnswer(error);
      const waitMs = answers ? Math.min(firstWaitMs * 2 ** tries, longestWaitMs) : 0;
      const nextMs = clock.now() + waitMs;
      const facts = { err: error, client: clientId, tries: tries + 1 };
      if (nextMs < logout.expires_at_ms) {
        log.warn(facts, 'application was not told of a sign-out; it is tried again');
        await postponeLogout(database, id, nextMs);
        return answers;
      }
      log.error(facts, 'application was not told of a sign-out for an hour');
    }
    await deleteLogout(database, id);
    return true;
  }
}

/** A message that an application refuses says nothing about other messages. No response, or that of a proxy for it, does. */
function isAnswer(error: unknown): boolean {
  const { response } = error as { response?: { status?: number } };
  const { status = 503 } = response ?? {};
  return status < 500 && status !== 429;
}
