import type { Clock } from '#kit/clock.ts';
import type { Log } from '#kit/log.ts';
import { MailError, type Mailer } from '#kit/mail/index.ts';
import { backoffMs } from './retry.ts';

const unreachableMaxMs = 60_000;
const misconfiguredMaxMs = 600_000;

export interface CircuitBreakerParts {
  readonly mailer: Mailer;
  readonly clock: Clock;
  readonly log: Log;
  /** First pause where nobody answers; it doubles while nothing changes. */
  readonly unreachableMs: number;
  /** First pause where a setting is at fault. */
  readonly misconfiguredMs: number;
  /** The way is free again. */
  readonly onClosed: () => void;
}

/**
 * Stops a worker while no mail could be sent anyhow, so that mails do not use up their tries on a server that is down. It asks the
 * server itself whether it is back, not with somebody's mail.
 */
export class MailCircuitBreaker implements Disposable {
  readonly #parts: CircuitBreakerParts;
  #trips = 0;
  #openUntilMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ping: Promise<MailError | undefined> | undefined;
  #isDisposed = false;

  constructor(parts: CircuitBreakerParts) {
    this.#parts = parts;
  }

  /** While it is open no mail should be taken. */
  get isOpen(): boolean {
    return this.#openUntilMs !== undefined;
  }

  /** When it asks again, at the earliest. */
  get openUntilMs(): number {
    return this.#openUntilMs ?? this.#parts.clock.now();
  }

  /** A mail was taken or refused by somebody: the way is free. */
  noteContact(): void {
    this.#trips = 0;
  }

  /** Whether a failure concerns every mail; then it is open from now on. Where nobody answered, that is asked for again. */
  async concernsAll(error: MailError): Promise<boolean> {
    if (error.fault === 'rejected' || error.fault === 'deferred') return false;
    if (this.isOpen || this.#isDisposed) return true;
    const failure = error.fault === 'misconfigured' ? error : await this.#pinged();
    if (failure === undefined) return false;
    if (!this.isOpen) this.#open(failure);
    return true;
  }

  /** Asks nobody any more. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
  }

  /** What keeps mails from being sent; one question for all who ask at once. */
  async #pinged(): Promise<MailError | undefined> {
    this.#ping ??= this.#parts.mailer.ping().then(
      () => undefined,
      (error: unknown) =>
        error instanceof MailError
          ? error
          : new MailError('unreachable', 'EPING', String(error), { cause: error }),
    );
    try {
      return await this.#ping;
    } finally {
      this.#ping = undefined;
    }
  }

  #open(failure: MailError): void {
    if (this.#isDisposed) return;
    const { log, clock, unreachableMs, misconfiguredMs } = this.#parts;
    const isSetting = failure.fault === 'misconfigured';
    const waits = isSetting
      ? { firstMs: misconfiguredMs, maxMs: Math.max(misconfiguredMs, misconfiguredMaxMs) }
      : { firstMs: unreachableMs, maxMs: Math.max(unreachableMs, unreachableMaxMs) };
    const waitMs = backoffMs(++this.#trips, waits);
    this.#openUntilMs = clock.now() + waitMs;
    const details = { mailCode: failure.code, answer: failure.message, waitMs };
    if (isSetting) log.error(details, 'no mail is sent: the mail server refuses how it is set up');
    else log.warn(details, 'no mail is sent: the mail server cannot be reached');
    this.#timer = setTimeout(() => void this.#askAgain(), waitMs);
  }

  async #askAgain(): Promise<void> {
    const failure = await this.#pinged();
    if (this.#isDisposed) return;
    if (failure) return this.#open(failure);
    this.#openUntilMs = undefined;
    this.#parts.log.info('the mail server answers again');
    this.#parts.onClosed();
  }
}
