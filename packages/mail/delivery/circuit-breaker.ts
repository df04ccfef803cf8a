import type { Clock, Log } from '@octavo/core';
import { MailError, type Mailer } from '../mailer.ts';
import { backoffMs } from './retry.ts';

const unreachableMaxMs = 60_000;
const misconfiguredMaxMs = 600_000;

interface CircuitBreakerParts {
  readonly mailer: Mailer;
  readonly clock: Clock;
  readonly log: Log;
  /** First pause if the server cannot be reached; doubles as long as it cannot. */
  readonly unreachableMs: number;
  /** First pause if the server rejects a setting. */
  readonly misconfiguredMs: number;
  /** Called when mails can be sent again. */
  readonly onClosed: () => void;
}

/**
 * Pauses a worker while no mail can be sent, so that mails do not use up their tries on a server that is down. It checks the server itself, without
 * sending a mail.
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

  /** True while no mail should be claimed. */
  get isOpen(): boolean {
    return this.#openUntilMs !== undefined;
  }

  /** The earliest time of its next check. */
  get openUntilMs(): number {
    return this.#openUntilMs ?? this.#parts.clock.now();
  }

  /** Call it when the server accepted or refused a mail: it can be reached. */
  noteContact(): void {
    this.#trips = 0;
  }

  /**
   * Returns true if a failure concerns every mail. If so, the breaker opens. If the server did not respond, it is checked
   * first.
   */
  async concernsAll(error: MailError): Promise<boolean> {
    if (error.fault === 'rejected' || error.fault === 'deferred') return false;
    if (this.isOpen || this.#isDisposed) return true;
    const failure = error.fault === 'misconfigured' ? error : await this.#check();
    if (failure === undefined) return false;
    if (!this.isOpen) this.#open(failure);
    return true;
  }

  /** Stops checking. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
  }

  /** Returns the reason why mails cannot be sent; undefined if they can. Calls at the same time share one check. */
  async #check(): Promise<MailError | undefined> {
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
    const details = { mailCode: failure.code, response: failure.message, waitMs };
    if (isSetting) log.error(details, 'mails are paused: the mail server rejects our settings');
    else log.warn(details, 'mails are paused: the mail server cannot be reached');
    this.#timer = setTimeout(() => void this.#checkAgain(), waitMs);
  }

  async #checkAgain(): Promise<void> {
    const failure = await this.#check();
    if (this.#isDisposed) return;
    if (failure) return this.#open(failure);
    this.#openUntilMs = undefined;
    this.#parts.log.info('the mail server responds again');
    this.#parts.onClosed();
  }
}
