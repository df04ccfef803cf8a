import type { Clock } from '#kit/base/clock.ts';
import { newSecret } from '#kit/base/ids.ts';

const ticketsMax = 1_000;

/** Secrets that each work once, in the memory of this process. */
export class Tickets<T> {
  readonly #clock: Clock;
  readonly #lifetimeMs: number;
  readonly #open = new Map<string, { readonly value: T; readonly expiresMs: number }>();

  constructor(clock: Clock, lifetimeMs: number) {
    this.#clock = clock;
    this.#lifetimeMs = lifetimeMs;
  }

  /** A new ticket; the oldest one ends where there are too many. */
  issue(value: T): string {
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= ticketsMax) this.#open.delete(oldest);
    const ticket = newSecret();
    this.#open.set(ticket, { value, expiresMs: this.#clock.now() + this.#lifetimeMs });
    return ticket;
  }

  /** The value of a ticket that works, without using it. */
  look(ticket: string): T | undefined {
    const found = this.#open.get(ticket);
    return found && found.expiresMs > this.#clock.now() ? found.value : undefined;
  }

  /** Uses a ticket. Undefined if it was used, has expired, or never was. */
  take(ticket: string): T | undefined {
    const value = this.look(ticket);
    this.#open.delete(ticket);
    return value;
  }
}
