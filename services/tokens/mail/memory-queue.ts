import type { Clock } from '@octavo/core';
import { newOrderedId } from '@octavo/core';
import type { MailBodies, MailClaims, QueuedMail, Settled, Verdict } from '@octavo/mail/delivery';

export interface NewMail extends MailBodies {
  readonly kind: string;
  readonly to: string;
  readonly subject: string;
  /** Time after which it is not sent. */
  readonly expiresMs: number;
}

interface WaitingMail extends QueuedMail, MailBodies {
  attempts: number;
  nextTryMs: number;
  isClaimed: boolean;
}

export type { WaitingMail };

/**
 * Mails that wait, in memory like the accounts that they are about: a restart loses both. Each is claimed by one lane of the one worker, so it is
 * sent once.
 */
export class MemoryMailQueue implements MailClaims<WaitingMail> {
  readonly #mails = new Map<string, WaitingMail>();
  readonly #clock: Clock;
  readonly #mailsMax: number;

  constructor(options: { clock: Clock; mailsMax: number }) {
    this.#clock = options.clock;
    this.#mailsMax = options.mailsMax;
  }

  get size(): number {
    return this.#mails.size;
  }

  /** Returns false if the queue is full; then the mail is not sent. */
  add({ to, expiresMs, ...mail }: NewMail): boolean {
    if (this.#mails.size >= this.#mailsMax) return false;
    const nowMs = this.#clock.now();
    const id = newOrderedId();
    this.#mails.set(id, {
      ...mail,
      id,
      recipient: to,
      created_at_ms: nowMs,
      expires_at_ms: expiresMs,
      attempts: 0,
      nextTryMs: nowMs,
      isClaimed: false,
    });
    return true;
  }

  async claimNext(): Promise<WaitingMail | undefined> {
    const next = this.#next();
    if (!next || next.nextTryMs > this.#clock.now()) return undefined;
    next.isClaimed = true;
    next.attempts++;
    return next;
  }

  async nextDueMs(): Promise<number> {
    return this.#next()?.nextTryMs ?? Number.POSITIVE_INFINITY;
  }

  async settle(
    mail: WaitingMail,
    verdict: Verdict,
    { claimsNext }: { claimsNext: boolean },
  ): Promise<Settled<WaitingMail>> {
    mail.isClaimed = false;
    if (verdict.status === 'pending') {
      mail.attempts = verdict.attempts;
      mail.nextTryMs = verdict.nextTryAtMs;
    } else this.#mails.delete(mail.id);
    return { isOurs: true, next: claimsNext ? await this.claimNext() : undefined };
  }

  /** The mail that is due first, of those that are not being sent. */
  #next(): WaitingMail | undefined {
    let first: WaitingMail | undefined;
    for (const mail of this.#mails.values())
      if (!mail.isClaimed && (!first || mail.nextTryMs < first.nextTryMs)) first = mail;
    return first;
  }
}
