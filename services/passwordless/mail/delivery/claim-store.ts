import { setTimeout as delay } from 'node:timers/promises';
import type { Clock, Log } from '@octavo/core';
import { runEvery } from '@octavo/core/concurrency';
import type { Database, WriteSession } from '@octavo/data';
import type { MailClaims, Settled, Verdict } from '@octavo/mail/delivery';
import {
  type Claim,
  claimMail,
  failMail,
  finishSent,
  type MailRow,
  type MailTables,
  nextDue,
  releaseMail,
  renewMails,
} from '../store.ts';

interface ClaimStoreParts {
  readonly database: Database<MailTables>;
  readonly clock: Clock;
  readonly log: Log;
  /** The id of the worker. */
  readonly worker: string;
  /** Time after which the entries of a worker that crashed are due again. */
  readonly leaseMs: number;
}

const tries = 6;
const firstWaitMs = 200;
/** Renewals within a lease: one of them may fail. */
const renewalsPerLease = 3;

/** The body of a mail after it was sent or has failed. */
export const bodyNote = '[removed: the mail is finished]';

/** Claims entries for one worker, renews their leases while they are being sent, and stores their results. */
export class MailClaimStore implements MailClaims<MailRow>, AsyncDisposable {
  readonly #parts: ClaimStoreParts;
  readonly #held = new Set<string>();
  readonly #renewals: AsyncDisposable;

  constructor(parts: ClaimStoreParts) {
    this.#parts = parts;
    this.#renewals = runEvery(parts.leaseMs / renewalsPerLease, () => this.#renew(), {
      log: parts.log,
      failure: 'the leases of mails could not be renewed',
    });
  }

  /** Claims the entry that has been due the longest; undefined if none is due. */
  async claimNext(): Promise<MailRow | undefined> {
    const dueMs = await this.nextDueMs();
    // Most checks find nothing, and a read does not block writers.
    if (dueMs > this.#parts.clock.now()) return undefined;
    return this.#hold(await this.#parts.database.write((session) => this.#claim(session)));
  }

  async nextDueMs(): Promise<number> {
    return (await nextDue(this.#parts.database))?.next_try_at_ms ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Stores the result of an entry, and claims the next one in the same transaction. Retries, so that a sent mail is not sent again
   * because the database is busy for a moment.
   */
  async settle(
    entry: MailRow,
    verdict: Verdict,
    { claimsNext }: { claimsNext: boolean },
  ): Promise<Settled<MailRow>> {
    this.#held.delete(entry.id);
    for (let attempt = 1; ; attempt++) {
      try {
        const settled = await this.#parts.database.write(async (session) => ({
          isOurs: await this.#store(session, entry, verdict),
          next: claimsNext ? await this.#claim(session) : undefined,
        }));
        this.#hold(settled.next);
        return settled;
      } catch (error) {
        if (attempt === tries) throw error;
        this.#parts.log.warn({ err: error }, 'the result of a mail could not be stored yet');
        await delay(firstWaitMs * 2 ** (attempt - 1));
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#renewals[Symbol.asyncDispose]();
  }

  #hold(entry: MailRow | undefined): MailRow | undefined {
    if (entry) this.#held.add(entry.id);
    return entry;
  }

  async #renew(): Promise<void> {
    if (this.#held.size === 0) return;
    const { database, worker, leaseMs, clock } = this.#parts;
    const renewed = { worker, ids: [...this.#held], leaseEndMs: clock.now() + leaseMs };
    await database.write((session) => renewMails(session, renewed));
  }

  #claim(session: WriteSession<MailTables>): Promise<MailRow | undefined> {
    const { worker, leaseMs, clock } = this.#parts;
    const nowMs = clock.now();
    return claimMail(session, { worker, nowMs, leaseEndMs: nowMs + leaseMs });
  }

  async #store(session: WriteSession<MailTables>, entry: MailRow, verdict: Verdict): Promise<boolean> {
    const claim = this.#claimOf(entry);
    const nowMs = this.#parts.clock.now();
    switch (verdict.status) {
      case 'sent':
        return finishSent(session, claim, { note: bodyNote, nowMs });
      case 'pending': {
        const { nextTryAtMs, attempts, reason } = verdict;
        return releaseMail(session, claim, { nextTryAtMs, attempts, lastError: reason });
      }
      case 'failed':
        return failMail(session, claim, { lastError: verdict.reason, note: bodyNote, nowMs });
    }
  }

  #claimOf({ id, claims }: MailRow): Claim {
    return { id, claims, worker: this.#parts.worker };
  }
}
