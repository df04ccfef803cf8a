import type { Clock } from '#kit/clock.ts';
import { refusals } from './refusals.ts';

export interface LockoutOptions {
  /** Failures in a row that lock. */
  readonly threshold: number;
  /** How long a lock lasts, and after how long without a failure the former ones are forgotten. */
  readonly lockMs: number;
  /** Keys that are remembered; the one that failed longest ago gives way. */
  readonly keysMax: number;
  readonly clock: Clock;
}

export interface Attempt {
  verify(): Promise<boolean>;
  /** What a refused attempt does instead, so that it takes as long. */
  whileLocked(): Promise<unknown>;
}

interface Entry {
  failures: number;
  inFlight: number;
  lastFailureMs: number;
  lockedUntilMs: number;
  waiting: (() => void)[];
}

/** Counts wrong passwords by key. Parallel attempts cannot outrun it: one that might be too many waits for those before it. */
export class Lockout {
  readonly #options: LockoutOptions;
  readonly #entries = new Map<string, Entry>();

  constructor(options: LockoutOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Whether the password was right. Throws where the key is locked. */
  async attempt(key: string, { verify, whileLocked }: Attempt): Promise<boolean> {
    const entry = await this.#admit(key);
    if (!entry) {
      await whileLocked();
      throw refusals.locked(Math.max(1, this.lockedForSeconds(key)));
    }
    let isRight: boolean | undefined;
    try {
      isRight = await verify();
      return isRight;
    } finally {
      this.#settle(key, entry, isRight);
    }
  }

  /** 0 where it is not locked. */
  lockedForSeconds(key: string): number {
    const { lockedUntilMs = 0 } = this.#entries.get(key) ?? {};
    return Math.max(0, Math.ceil((lockedUntilMs - this.#options.clock.now()) / 1_000));
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }

  /** Forgets keys whose failures no longer count; entries stand in the order of their last failure. */
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

  /** An attempt that broke off (too many at once) counts as neither right nor wrong. */
  #settle(key: string, entry: Entry, isRight: boolean | undefined): void {
    entry.inFlight--;
    if (isRight === false) this.#countFailure(key, entry);
    if (isRight === true) entry.failures = 0;
    if (entry.failures === 0 && entry.inFlight === 0 && this.#entries.get(key) === entry) {
      this.#entries.delete(key);
    }
    const { waiting } = entry;
    entry.waiting = [];
    for (const goOn of waiting) goOn();
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
