import type { Clock } from '@octavo/core';
import { MailError, type Mailer, type Sender } from '../mailer.ts';
import type { MailCircuitBreaker } from './circuit-breaker.ts';
import type { MailBodies, QueuedMail, Verdict } from './queue.ts';
import { afterFailure, type RetryPolicy, reasonToFail, withoutCounting } from './retry.ts';

interface DeliveryParts<M> {
  readonly mailer: Mailer;
  /** The text of a mail; undefined if it cannot be decrypted. */
  bodiesOf(mail: M): MailBodies | undefined;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly breaker: MailCircuitBreaker;
  readonly policy: RetryPolicy;
  /** Maximum time for a mail. */
  readonly deadlineMs: number;
}

/** Sends the mail of an entry, and decides what happens to the entry. It never throws. */
export class MailDelivery<M extends QueuedMail> {
  readonly #parts: DeliveryParts<M>;
  readonly #domain: string;

  constructor(parts: DeliveryParts<M>) {
    this.#parts = parts;
    this.#domain = parts.sender.address.slice(parts.sender.address.lastIndexOf('@') + 1);
  }

  async deliver(entry: M): Promise<Verdict> {
    const { clock, policy, breaker, deadlineMs } = this.#parts;
    const reason = reasonToFail(entry, clock.now(), policy);
    if (reason) return { status: 'failed', reason };
    const bodies = this.#parts.bodiesOf(entry);
    if (!bodies) return { status: 'failed', reason: 'its text cannot be decrypted: the secret has changed' };
    const giveUp = new AbortController();
    const timer = setTimeout(() => giveUp.abort(), deadlineMs);
    try {
      await this.#parts.mailer.send(this.#mailOf(entry, bodies), { signal: giveUp.signal });
      breaker.noteContact();
      return { status: 'sent' };
    } catch (error) {
      return this.#afterFailure(entry, asMailError(error));
    } finally {
      clearTimeout(timer);
    }
  }

  async #afterFailure(entry: M, error: MailError): Promise<Verdict> {
    const { breaker, clock, policy } = this.#parts;
    if (await breaker.concernsAll(error)) return withoutCounting(entry, breaker.openUntilMs, error);
    breaker.noteContact();
    return afterFailure(entry, error, { nowMs: clock.now(), policy });
  }

  #mailOf({ id, recipient, subject, created_at_ms }: M, { text, html }: MailBodies) {
    return {
      // The same at each try, so that mail clients can detect duplicates.
      id: `${id}@${this.#domain}`,
      from: this.#parts.sender,
      to: recipient,
      subject,
      date: new Date(created_at_ms),
      text,
      html,
    };
  }
}

/** An unknown error is our own fault with this one mail. */
function asMailError(error: unknown): MailError {
  if (error instanceof MailError) return error;
  return new MailError('deferred', 'EINTERNAL', 'the mail could not be created', { cause: error });
}
