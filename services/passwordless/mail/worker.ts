import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '#kit/clock.ts';
import type { Log } from '#kit/log.ts';
import type { Mailer } from '#kit/mail/index.ts';
import type { MailCircuitBreaker } from './circuit-breaker.ts';
import type { MailClaimStore, Settled } from './claim-store.ts';
import type { MailDelivery } from './delivery.ts';
import type { MailMetrics } from './metrics.ts';
import { type Verdict, withoutCounting } from './retry.ts';
import type { MailRow } from './store.ts';

export interface MailWorkerParts {
  readonly claims: MailClaimStore;
  readonly delivery: MailDelivery;
  readonly breaker: MailCircuitBreaker;
  readonly mailer: Mailer;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: MailMetrics;
  /** Mails at once. */
  readonly concurrency: number;
  readonly pollMs: number;
  /** How long mails under way may take once it is to stop. */
  readonly graceMs: number;
}

/** Before looking again for an entry that is due but that somebody else was taking. */
const restMsMin = 20;

/**
 * Sends what is due: some mails at once, each lane taking the next when it has written down what became of the last. It sleeps until
 * the next entry is due, is woken by {@link wake}, and looks by itself now and then. Any number of workers share a queue.
 */
export class MailWorker implements AsyncDisposable {
  readonly #parts: MailWorkerParts;
  readonly #lanes = new Set<Promise<void>>();
  #sending = 0;
  #wokenMeanwhile = false;
  #timer: NodeJS.Timeout | undefined;
  #stopping = false;

  constructor(parts: MailWorkerParts) {
    this.#parts = parts;
  }

  /** Something may be due. */
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

  /** Takes nothing new, lets mails under way end for a while, then gives the rest back. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    this.#parts.breaker[Symbol.dispose]();
    clearTimeout(this.#timer);
    const ended = Promise.all(this.#lanes);
    const patience = new AbortController();
    await Promise.race([
      ended,
      delay(this.#parts.graceMs, undefined, { signal: patience.signal }).catch(() => {}),
    ]);
    patience.abort();
    await this.#parts.mailer.close({ abort: this.#lanes.size > 0 });
    await ended;
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    try {
      let entry = this.#stopping ? undefined : await this.#parts.claims.take();
      while (entry) {
        this.wake();
        const verdict = await this.#deliver(entry);
        const settled = await this.#settle(entry, verdict);
        this.#tell(entry, verdict, settled);
        entry = settled.next;
      }
      await this.#sleep();
    } catch (error) {
      this.#parts.log.error({ err: error }, 'the e-mail queue cannot be used');
      this.#sleepFor(this.#parts.pollMs);
    }
  }

  async #deliver(entry: MailRow): Promise<Verdict> {
    this.#sending++;
    const verdict = await this.#parts.delivery.deliver(entry);
    this.#sending--;
    // Broken off by our own end, a try says nothing about the mail.
    if (!this.#stopping || verdict.status !== 'pending') return verdict;
    return withoutCounting(entry, this.#parts.clock.now(), undefined);
  }

  #settle(entry: MailRow, verdict: Verdict): Promise<Settled> {
    const takesNext = !this.#stopping && !this.#parts.breaker.isOpen;
    return this.#parts.claims.settle(entry, verdict, { takesNext, busy: this.#sending });
  }

  #tell({ id: mailId, kind, attempts }: MailRow, verdict: Verdict, { isMine }: Settled): void {
    const { log, metrics } = this.#parts;
    metrics.count(isMine ? verdict.status : 'late');
    // Only the code: what a server answers may name the recipient. All of it is in the queue.
    const reason = verdict.status === 'sent' ? undefined : verdict.reason?.split(': ')[0];
    if (!isMine) log.warn({ mailId, kind }, 'a mail took longer than its lease; another worker has taken it');
    else if (verdict.status === 'failed') log.warn({ mailId, kind, attempts, reason }, 'a mail failed');
    else log.debug({ mailId, kind, attempts, reason }, `a mail is ${verdict.status}`);
  }

  async #sleep(): Promise<void> {
    const untilDueMs = (await this.#parts.claims.nextDueMs()) - this.#parts.clock.now();
    this.#sleepFor(Math.min(this.#parts.pollMs, Math.max(restMsMin, untilDueMs)));
  }

  #sleepFor(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#stopping) return;
    this.#timer = setTimeout(() => this.wake(), ms);
  }
}
