import { setTimeout as delay } from 'node:timers/promises';
import type { Clock, Log } from '@octavo/core';
import type { Mailer } from '../mailer.ts';
import type { MailCircuitBreaker } from './circuit-breaker.ts';
import type { MailDelivery } from './delivery.ts';
import type { MailClaims, QueuedMail, Settled, Verdict } from './queue.ts';
import { withoutCounting } from './retry.ts';

/** The result of a try; `late` if another worker has claimed the mail since. */
export type MailOutcome = Verdict['status'] | 'late';

interface MailWorkerParts<M extends QueuedMail> {
  readonly claims: MailClaims<M>;
  readonly delivery: MailDelivery<M>;
  readonly breaker: MailCircuitBreaker;
  readonly mailer: Mailer;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: { count(outcome: MailOutcome): void };
  /** Mails that are sent at once. */
  readonly concurrency: number;
  readonly pollMs: number;
  /** Time that mails in delivery get after the worker is told to stop. */
  readonly graceMs: number;
}

/** Wait before checking again for a due entry that another worker was claiming. */
const restMsMin = 20;

/**
 * Sends mails that are due, several at once. Each lane claims its next entry in the same transaction that stores the result of the last one. The worker
 * sleeps until the next entry is due or {@link wake} is called, and checks the queue regularly. Any number of workers share a queue.
 */
export class MailWorker<M extends QueuedMail> implements AsyncDisposable {
  readonly #parts: MailWorkerParts<M>;
  readonly #lanes = new Set<Promise<void>>();
  #wokenMeanwhile = false;
  #timer: NodeJS.Timeout | undefined;
  #stopping = false;

  constructor(parts: MailWorkerParts<M>) {
    this.#parts = parts;
  }

  /** Checks the queue for due mails now. */
  wake(): void {
    if (this.#stopping || this.#parts.breaker.isOpen) return;
    if (this.#lanes.size >= this.#parts.concurrency) {
      this.#wokenMeanwhile = true;
      return;
    }
    const lane: Promise<void> = this.#run().finally(() => {
      this.#lanes.delete(lane);
      if (this.#wokenMeanwhile) {
        this.#wokenMeanwhile = false;
        this.wake();
      }
    });
    this.#lanes.add(lane);
  }

  /** Claims nothing new, waits a while for mails that are being sent, then releases the rest. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    this.#parts.breaker[Symbol.dispose]();
    clearTimeout(this.#timer);
    const ended = Promise.all(this.#lanes);
    const timeout = new AbortController();
    await Promise.race([
      ended,
      delay(this.#parts.graceMs, undefined, { signal: timeout.signal }).catch(() => {}),
    ]);
    timeout.abort();
    await this.#parts.mailer.close({ abort: this.#lanes.size > 0 });
    await ended;
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    try {
      let entry = this.#stopping ? undefined : await this.#parts.claims.claimNext();
      while (entry) {
        this.wake();
        const verdict = await this.#deliver(entry);
        const settled = await this.#settle(entry, verdict);
        this.#report(entry, verdict, settled);
        entry = settled.next;
      }
      await this.#sleepUntilDue();
    } catch (error) {
      this.#parts.log.error({ err: error }, 'the e-mail queue is not available');
      this.#sleepFor(this.#parts.pollMs);
    }
  }

  async #deliver(entry: M): Promise<Verdict> {
    const verdict = await this.#parts.delivery.deliver(entry);
    // A try that our own shutdown broke off says nothing about the mail.
    if (!this.#stopping || verdict.status !== 'pending') return verdict;
    return withoutCounting(entry, this.#parts.clock.now(), undefined);
  }

  #settle(entry: M, verdict: Verdict): Promise<Settled<M>> {
    const claimsNext = !this.#stopping && !this.#parts.breaker.isOpen;
    return this.#parts.claims.settle(entry, verdict, { claimsNext });
  }

  #report({ id: mailId, kind, attempts }: M, verdict: Verdict, { isOurs }: Settled<M>): void {
    const { log, metrics } = this.#parts;
    metrics.count(isOurs ? verdict.status : 'late');
    // Only the code, since the response of a server may name the recipient. The queue has all of it.
    const reason = verdict.status === 'sent' ? undefined : verdict.reason?.split(': ')[0];
    if (!isOurs) log.warn({ mailId, kind }, 'a mail took longer than its lease; another worker has taken it');
    else if (verdict.status === 'failed') log.warn({ mailId, kind, attempts, reason }, 'a mail failed');
    else log.debug({ mailId, kind, attempts, reason }, `a mail is ${verdict.status}`);
  }

  async #sleepUntilDue(): Promise<void> {
    const untilDueMs = (await this.#parts.claims.nextDueMs()) - this.#parts.clock.now();
    this.#sleepFor(Math.min(this.#parts.pollMs, Math.max(restMsMin, untilDueMs)));
  }

  #sleepFor(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#stopping) return;
    this.#timer = setTimeout(() => this.wake(), ms);
  }
}
