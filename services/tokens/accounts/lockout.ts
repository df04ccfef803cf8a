import type { Clock } from '@octavo/core';
import { errors } from '../errors.ts';

export interface LockoutOptions {
  /** Consecutive failures that lock a key. */
  readonly threshold: number;
  /** Duration of a lock. After the same time without a failure, earlier failures no longer count. */
  readonly lockMs: number;
  /** Keys to remember. Beyond that, the key that failed longest ago is dropped. */
  readonly keysMax: number;
  readonly clock: Clock;
}

export interface Attempt {
  verify(): Promise<boolean>;
  /** Runs instead of `verify` while the key is locked, so that the attempt takes as long. */
  whileLocked(): Promise<unknown>;
}

interface Entry {
  failures: number;
  inFlight: number;
  lastFailureMs: number;
  lockedUntilMs: number;
  waiting: (() => void)[];
}

/** Counts wrong passwords by key. Parallel attempts gain nothing: one that might be too many waits for those before it. */
export class Lockout {
  readonly #options: LockoutOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: LockoutOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Returns true if the password was right. Throws ACCOUNT_LOCKED if the key is locked. */
  async attempt(key: string, { verify, whileLocked }: Attempt): Promise<boolean> {
    const entry = await this.#admit(key);
    if (!entry) {
      await whileLocked();
      throw errors.locked(Math.max(1, this.lockedForSeconds(key)));
    }
    let isRight: boolean | undefined;
    try {
      isRight = await verify();
      return isRight;
    } finally {
      this.#settle(key, entry, isRight);
    }
  }

  /** 0 if the key is not locked. */
  lockedForSeconds(key: string): number {
    const { lockedUntilMs = 0 } = this.#entries.get(key) ?? {};
    return Math.max(0, Math.ceil((lockedUntilMs - this.#options.clock.now()) / 1_000));
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  /** Removes keys whose failures no longer count. Entries are in the order of their last failure. */
  sweep(): void {
    const nowMs = this.#options.clock.now();
    for (const [key, entry] of this.#entries) {
      if (entry.inFlight > 0) continue;
      if (!this.#isOver(entry, nowMs)) return;
      this.#entries.delete(key);
    }
  }

  async #admit(key: string): Promise<Entry | undefined> {
    for (;;) {
      const entry = this.#entryOf(key);
      if (this.#options.clock.now() < entry.lockedUntilMs) return undefined;
      if (entry.failures + entry.inFlight < this.#options.threshold) {
        entry.inFlight++;
        return entry;
      }
      await new Promise<void>((resolve) => entry.waiting.push(resolve));
    }
  }

  #entryOf(key: string): Entry {
    const known = this.#entries.get(key);
    if (known) {
      if (this.#isOver(known, this.#options.clock.now())) {
        known.failures = 0;
        known.lockedUntilMs = 0;
      }
      return known;
    }
    const entry: Entry = { failures: 0, inFlight: 0, lastFailureMs: 0, lockedUntilMs: 0, waiting: [] };
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#options.keysMax) this.#dropOldest();
    return entry;
  }

  #isOver(entry: Entry, nowMs: number): boolean {
    return nowMs >= entry.lockedUntilMs && nowMs - entry.lastFailureMs >= this.#options.lockMs;
  }

  #dropOldest(): void {
    for (const [key, entry] of this.#entries) {
      if (entry.inFlight > 0) continue;
      this.#entries.delete(key);
      return;
    }
  }

  /** An attempt that threw (too many at once) counts as neither right nor wrong. */
  #settle(key: string, entry: Entry, isRight: boolean | undefined): void {
    entry.inFlight--;
    if (isRight === false) this.#countFailure(key, entry);
    if (isRight === true) entry.failures = 0;
    if (entry.failures === 0 && entry.inFlight === 0 && this.#entries.get(key) === entry) {
      this.#entries.delete(key);
    }
    const { waiting } = entry;
    entry.waiting = [];
    for (const resume of waiting) resume();
  }

  #countFailure(key: string, entry: Entry): void {
    const nowMs = this.#options.clock.now();
    entry.failures++;
    entry.lastFailureMs = nowMs;
    if (entry.failures >= this.#options.threshold) entry.lockedUntilMs = nowMs + this.#options.lockMs;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }
}
