import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '#kit/clock.ts';
import type { Database, WriteSession } from '#kit/db/index.ts';
import type { Log } from '#kit/log.ts';
import { bodyNote } from '../encryption.ts';
import type { Verdict } from './retry.ts';
import {
  type Claim,
  claimMails,
  failMail,
  finishSent,
  giveMailBack,
  type MailRow,
  type MailTables,
  nextDue,
} from './store.ts';

export interface ClaimStoreParts {
  readonly database: Database<MailTables>;
  readonly clock: Clock;
  readonly log: Log;
  /** Who takes entries. */
  readonly worker: string;
  readonly leaseMs: number;
}

export interface Settled {
  /** False where somebody else had taken the entry meanwhile: then nothing was written. */
  readonly isMine: boolean;
  readonly next: MailRow | undefined;
}

interface Waiting {
  readonly entry: MailRow;
  readonly verdict: Verdict;
  readonly takesNext: boolean;
  resolve(settled: Settled): void;
  reject(error: unknown): void;
}

/** How long an outcome may wait for others, to share their commit: a mail that was sent but not written down may be sent again. */
const gatherMs = 4;
const tries = 6;
const firstWaitMs = 200;

/** The entries of one worker: takes them, and writes down what became of them, those of one moment in one transaction. */
export class MailClaimStore {
  readonly #parts: ClaimStoreParts;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: ClaimStoreParts) {
    this.#parts = parts;
  }

  /** The entry that is due the longest, if any is. */
  async take(): Promise<MailRow | undefined> {
    const dueMs = await this.nextDueMs();
    // Most looks find nothing, and reading holds nobody up.
    if (dueMs > this.#parts.clock.now()) return undefined;
    return this.#parts.database.write(async (session) => (await this.#claim(session, 1))[0]);
  }

  async nextDueMs(): Promise<number> {
    return (await nextDue.first(this.#parts.database, {}))?.next_try_at_ms ?? Number.POSITIVE_INFINITY;
  }

  /** Writes down what became of an entry, and takes the next one with it. `busy` is how many more may come in a moment. */
  settle(entry: MailRow, verdict: Verdict, options: { takesNext: boolean; busy: number }): Promise<Settled> {
    return new Promise((resolve, reject) => {
      const { takesNext, busy } = options;
      this.#waiting.push({ entry, verdict, takesNext, resolve, reject });
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

  /** A mail that was sent must not be forgotten because the database is busy for a moment. */
  async #persist(group: readonly Waiting[]): Promise<Settled[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#parts.database.write((session) => this.#writeAll(session, group));
      } catch (error) {
        if (attempt === tries) throw error;
        this.#parts.log.warn({ err: error }, 'what became of mails could not be written down yet');
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
    const next = await this.#claim(session, group.filter(({ takesNext }) => takesNext).length);
    return group.map(({ entry, takesNext }) => ({
      isMine: mine.has(entry.id),
      next: takesNext ? next.shift() : undefined,
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
      return giveMailBack(session, claim, { nextTryAtMs, attempts, lastError: reason });
    }
    if (verdict.status === 'sent') return false;
    const nowMs = this.#parts.clock.now();
    return failMail(session, claim, { lastError: verdict.reason, note: bodyNote, nowMs });
  }

  #claimOf({ id, claims }: MailRow): Claim {
    return { id, claims, worker: this.#parts.worker };
  }
}
