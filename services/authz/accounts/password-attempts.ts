import { createHash } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { AppError, networkOf } from '@octavo/core';
import type { Hasher, Passwords } from '@octavo/core/passwords';
import type { Database } from '@octavo/data';
import { clearAttempts, oldestAttempt, reserveAttempt, sweepAttempts, type Tables } from '../store.ts';
import { usernameKey } from './account.ts';

export interface PasswordAttemptsOptions {
  readonly database: Database<Tables>;
  readonly passwords: Passwords;
  readonly clock: Clock;
}

const windowMs = 5 * 60_000;

/**
 * At most ten failures in five minutes for a key. An attempt is counted before the password is checked, and a correct one
 * clears the count, so parallel guesses gain nothing.
 */
export class PasswordAttempts {
  readonly #options: PasswordAttemptsOptions;

  constructor(options: PasswordAttemptsOptions) {
    this.#options = options;
  }

  /** Returns the result of `attempt`, which fails by throwing. Throws `rate_limited` without calling it after too many failures. */
  async run<T>(key: string, attempt: (hasher: Hasher) => Promise<T>): Promise<T> {
    const { database, passwords } = this.#options;
    // Checked before waiting for a slot: a rejected client must not delay the others.
    const retryAfterMs = await this.#retryAfterMs(key);
    if (retryAfterMs > 0) throw limited(retryAfterMs);
    return passwords.inTurn(async (hasher) => {
      await this.#reserve(key);
      const result = await attempt(hasher);
      await clearAttempts(database, key);
      return result;
    });
  }

  /** Deletes attempts that no longer count, so that their table stays small. */
  async sweep(): Promise<void> {
    await sweepAttempts(this.#options.database, this.#cutoffMs());
  }

  async #reserve(login: string): Promise<void> {
    const { database, clock } = this.#options;
    const attempt = { login, nowMs: clock.now(), cutoffMs: this.#cutoffMs() };
    const { numInsertedOrUpdatedRows } = await reserveAttempt(database, attempt);
    if (numInsertedOrUpdatedRows === 0n) throw limited(await this.#retryAfterMs(login));
  }

  async #retryAfterMs(login: string): Promise<number> {
    const oldest = await oldestAttempt(this.#options.database, login);
    return (oldest?.at_0_ms ?? 0) - this.#cutoffMs();
  }

  #cutoffMs(): number {
    return this.#options.clock.now() - windowMs;
  }
}

/** Counts sign-ins: by username and network. */
export function loginKey({ username, remoteAddress }: { username: string; remoteAddress: string }): string {
  return hashed(`${usernameKey(username)}\0${networkOf(remoteAddress)}`);
}

/**
 * Counts checks of one's own password apart from sign-ins, so that guesses with a stolen token do not keep the owner from
 * signing in. The prefix keeps the keys apart, whatever is typed as a username.
 */
export function ownPasswordKey({ uid, remoteAddress }: { uid: number; remoteAddress: string }): string {
  return `own:${hashed(`${uid}\0${networkOf(remoteAddress)}`)}`;
}

/** Rows are short, a password typed as a username is not stored, and NUL does no harm. */
function hashed(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

function limited(retryAfterMs: number): AppError {
  return new AppError('rate_limited', 'Too many wrong passwords. Try again later.', {
    retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1_000)),
  });
}
