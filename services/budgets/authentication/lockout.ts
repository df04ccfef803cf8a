import { createHash } from 'node:crypto';
import type { Hasher, Passwords } from '#kit/auth/passwords.ts';
import type { Clock } from '#kit/clock.ts';
import { ConcurrencyLimiter } from '#kit/concurrency-limiter.ts';
import type { Database } from '#kit/db/index.ts';
import type { AppError } from '#kit/errors.ts';
import type { Tables } from '../tables.ts';
import { clearAttempts, deleteOldAttempts, giveBackAttempt, lastFailure, reserveAttempt } from './store.ts';
import { errors } from './user.ts';

export interface LockoutOptions {
  readonly db: Database<Tables>;
  readonly passwords: Passwords;
  readonly clock: Clock;
  /** Failures in a row that lock a key. */
  readonly threshold: number;
  /** How long a lock lasts. After the same time without a failure, earlier failures no longer count. */
  readonly lockMs: number;
}

const waitingMax = 64;

/**
 * Counts wrong passwords in a row by key, in the database, so that replicas agree. An attempt is counted before the password is
 * checked, and a correct one clears the count. Attempts for one key run one after another, so parallel guesses gain nothing.
 */
export class Lockout {
  readonly #options: LockoutOptions;
  readonly #lines = new Map<string, { limiter: ConcurrencyLimiter; attempts: number }>();

  constructor(options: LockoutOptions) {
    this.#options = options;
  }

  /**
   * Whether `check` finds the password correct. While the key is locked it takes as long as a wrong password and throws
   * `ACCOUNT_LOCKED`.
   */
  async attempt(key: string, check: (hasher: Hasher) => Promise<boolean>): Promise<boolean> {
    const hash = createHash('sha256').update(key).digest('base64url');
    const line = this.#lines.get(hash) ?? {
      limiter: new ConcurrencyLimiter({ running: 1, waiting: waitingMax }),
      attempts: 0,
    };
    this.#lines.set(hash, line);
    line.attempts++;
    try {
      return await line.limiter.run(() =>
        this.#options.passwords.inTurn((hasher) => this.#attempt(hash, hasher, check)),
      );
    } finally {
      if (--line.attempts === 0) this.#lines.delete(hash);
    }
  }

  /** Forgets the failures of a key. */
  async forget(key: string): Promise<void> {
    const hash = createHash('sha256').update(key).digest('base64url');
    await clearAttempts.run(this.#options.db, { hash });
  }

  /** Deletes failures that no longer count. */
  async sweep(): Promise<void> {
    await deleteOldAttempts.run(this.#options.db, { cutoffMs: this.#cutoffMs() });
  }

  async #attempt(hash: string, hasher: Hasher, check: (hasher: Hasher) => Promise<boolean>) {
    const { db, clock, threshold } = this.#options;
    const attempt = { hash, nowMs: clock.now(), cutoffMs: this.#cutoffMs(), threshold };
    const { changes } = await reserveAttempt.run(db, attempt);
    if (changes === 0) {
      await hasher.verify(undefined, '');
      throw await this.#locked(hash);
    }
    try {
      const isRight = await check(hasher);
      if (isRight) await clearAttempts.run(db, { hash });
      return isRight;
    } catch (error) {
      await giveBackAttempt.run(db, { hash });
      throw error;
    }
  }

  async #locked(hash: string): Promise<AppError> {
    const row = await lastFailure.first(this.#options.db, { hash });
    const remainingMs = (row?.last_failure_at_ms ?? 0) - this.#cutoffMs();
    return errors.locked(Math.max(1, Math.ceil(remainingMs / 1_000)));
  }

  #cutoffMs(): number {
    const { clock, lockMs } = this.#options;
    return clock.now() - lockMs;
  }
}
