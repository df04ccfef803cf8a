import { createHash } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import { ConcurrencyLimiter } from '@octavo/core/concurrency';
import type { Hasher, Passwords } from '@octavo/core/passwords';
import type { Database } from '@octavo/data';
import {
  type AccountTables,
  clearAttempts,
  giveBackAttempt,
  lastFailure,
  reserveAttempt,
  sweepAttempts,
} from './store.ts';

export interface LockoutOptions {
  readonly database: Database<AccountTables>;
  readonly passwords: Passwords;
  readonly clock: Clock;
  /** Failures in a row that lock a key. */
  readonly threshold: number;
  /** Duration of a lock. After the same time without a failure, earlier failures no longer count. */
  readonly lockMs: number;
  /** The error while a key is locked, with the seconds until the lock ends; `rate_limited` by default. */
  readonly locked?: (retryAfterSeconds: number) => AppError;
}

const waitingMax = 64;

/**
 * Counts wrong passwords in a row by key, in the database, so that all replicas agree. An attempt is counted before the password is
 * checked, and a right one clears the count; attempts at one key run one after another, so parallel guesses gain nothing.
 */
export class Lockout {
  readonly #options: LockoutOptions;
  readonly #lines = new Map<string, ConcurrencyLimiter>();

  constructor(options: LockoutOptions) {
    this.#options = options;
  }

  /**
   * Returns the result of `check`; undefined means that the password was wrong. While the key is locked, it takes as long as a
   * wrong password and throws the lock error; attempts do not extend a lock.
   */
  async attempt<T>(name: string, check: (hasher: Hasher) => Promise<T | undefined>): Promise<T | undefined> {
    const key = createHash('sha256').update(name).digest('base64url');
    return this.#inLine(key, () =>
      this.#options.passwords.inTurn((hasher) => this.#check(key, hasher, check)),
    );
  }

  /** Forgets the failures of a key. */
  async forget(name: string): Promise<void> {
    const key = createHash('sha256').update(name).digest('base64url');
    await clearAttempts(this.#options.database, key);
  }

  /** Deletes failures that no longer count. */
  async sweep(): Promise<void> {
    await sweepAttempts(this.#options.database, this.#cutoffMs());
  }

  async #inLine<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? new ConcurrencyLimiter({ running: 1, waiting: waitingMax });
    this.#lines.set(key, line);
    try {
      return await line.run(work);
    } finally {
      if (line.isIdle) this.#lines.delete(key);
    }
  }

  async #check<T>(
    key: string,
    hasher: Hasher,
    check: (hasher: Hasher) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const { database, clock, threshold } = this.#options;
    const attempt = { key, nowMs: clock.now(), cutoffMs: this.#cutoffMs(), threshold };
    const { numInsertedOrUpdatedRows } = await reserveAttempt(database, attempt);
    if (numInsertedOrUpdatedRows === 0n) {
      await hasher.verify(undefined, '');
      throw await this.#locked(key);
    }
    try {
      const result = await check(hasher);
      if (result !== undefined) await clearAttempts(database, key);
      return result;
    } catch (error) {
      await giveBackAttempt(database, key);
      throw error;
    }
  }

  async #locked(key: string): Promise<AppError> {
    const { database, locked = tooManyAttempts } = this.#options;
    const row = await lastFailure(database, key);
    const remainingMs = (row?.last_failure_at_ms ?? 0) - this.#cutoffMs();
    return locked(Math.max(1, Math.ceil(remainingMs / 1_000)));
  }

  #cutoffMs(): number {
    const { clock, lockMs } = this.#options;
    return clock.now() - lockMs;
  }
}

function tooManyAttempts(retryAfterSeconds: number): AppError {
  return new AppError('rate_limited', 'Too many wrong passwords. Try again later.', {
    reason: 'ACCOUNT_LOCKED',
    retryAfterSeconds,
  });
}
