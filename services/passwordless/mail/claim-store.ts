import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '#kit/clock.ts';
import type { Database, WriteSession } from '#kit/db/index.ts';
import type { Log } from '#kit/log.ts';
import type { Verdict } from './retry.ts';
import {
  type Claim,
  claimMails,
  failMail,
  finishSent,
  type MailRow,
  type MailTables,
  nextDue,
  releaseMail,
} from './store.ts';

interface ClaimStoreParts {
  readonly database: Database<MailTables>;
  readonly clock: Clock;
  readonly log: Log;
  /** The id of the worker. */
  readonly worker: string;
  readonly leaseMs: number;
}

export interface Settled {
  /** False if another worker has claimed the entry since. Then nothing was written. */
  readonly isOurs: boolean;
  readonly next: MailRow | undefined;
}

interface Waiting {
  readonly entry: MailRow;
  readonly verdict: Verdict;
  readonly claimsNext: boolean;
  resolve(settled: Settled): void;
  reject(error: unknown): void;
}

/** How long a result waits for others to share a commit. It is short: a mail whose result is not stored may be sent again. */
const gatherMs = 4;
const tries = 6;
const firstWaitMs = 200;

/** The body of a mail after it was sent or has failed. */
export const bodyNote = '[removed: the mail is finished]';

/** Claims entries for one worker, and stores their results. Results of one moment share a transaction. */
export class MailClaimStore {
  readonly #parts: ClaimStoreParts;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: ClaimStoreParts) {
    this.#parts = parts;
  }

  /** Claims the entry that has been due the longest; undefined if none is due. */
  async claimNext(): Promise<MailRow | undefined> {
    const dueMs = await this.nextDueMs();
    // Most checks find nothing, and a read does not block writers.
    if (dueMs > this.#parts.clock.now()) return undefined;
    return this.#parts.database.write(async (session) => (await this.#claim(session, 1))[0]);
  }

  async nextDueMs(): Promise<number> {
    return (await nextDue.first(this.#parts.database, {}))?.next_try_at_ms ?? Number.POSITIVE_INFINITY;
  }

  /** Stores the result of an entry, and claims the next one. `busy` is how many other mails are being sent. */
  settle(entry: MailRow, verdict: Verdict, options: { claimsNext: boolean; busy: number }): Promise<Settled> {
    return new Promise((resolve, reject) => {
      const { claimsNext, busy } = options;
      this.#waiting.push({ entry, verdict, claimsNext, resolve, reject });
      if (busy === 0) this.#flush();
      else this.#timer ??= setTimeout(() => this.#flush(), gatherMs);
    });
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const group = this.#waiting;
    this.#waiting = [];
    this.#persist(group).then(
      (settled) => {
        for (const [index, { resolve }] of group.entries()) resolve(settled[index] as Settled);
      },
      (error) => {
        for (const { reject } of group) reject(error);
      },
    );
  }

  /** Retries, so that a sent mail is not sent again because the database is busy for a moment. */
  async #persist(group: readonly Waiting[]): Promise<Settled[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#parts.database.write((session) => this.#writeAll(session, group));
      } catch (error) {
        if (attempt === tries) throw error;
        this.#parts.log.warn({ err: error }, 'the results of mails could not be stored yet');
        await delay(firstWaitMs * 2 ** (attempt - 1));
      }
    }
  }

  async #writeAll(session: WriteSession<MailTables>, group: readonly Waiting[]): Promise<Settled[]> {
    const nowMs = this.#parts.clock.now();
    const sent = group
      .filter(({ verdict }) => verdict.status === 'sent')
      .map(({ entry }) => this.#claimOf(entry));
    const mine = new Set(await finishSent(session, sent, { note: bodyNote, nowMs }));
    for (const { entry, verdict } of group)
      if (await this.#writeUnsent(session, entry, verdict)) mine.add(entry.id);
    const next = await this.#claim(session, group.filter(({ claimsNext }) => claimsNext).length);
    return group.map(({ entry, claimsNext }) => ({
      isOurs: mine.has(entry.id),
      next: claimsNext ? next.shift() : undefined,
    }));
  }

  async #claim(session: WriteSession<MailTables>, count: number): Promise<MailRow[]> {
    if (count === 0) return [];
    const { worker, leaseMs, clock } = this.#parts;
    const nowMs = clock.now();
    return claimMails.all(session, { worker, nowMs, leaseEndMs: nowMs + leaseMs, count });
  }

  async #writeUnsent(session: WriteSession<MailTables>, entry: MailRow, verdict: Verdict): Promise<boolean> {
    const claim = this.#claimOf(entry);
    if (verdict.status === 'pending') {
      const { nextTryAtMs, attempts, reason } = verdict;
      return releaseMail(session, claim, { nextTryAtMs, attempts, lastError: reason });
    }
    if (verdict.status === 'sent') return false;
    const nowMs = this.#parts.clock.now();
    return failMail(session, claim, { lastError: verdict.reason, note: bodyNote, nowMs });
  }

  #claimOf({ id, claims }: MailRow): Claim {
    return { id, claims, worker: this.#parts.worker };
  }
}
