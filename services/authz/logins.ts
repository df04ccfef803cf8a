import { createHash } from 'node:crypto';
import { Counter, type Registry } from 'prom-client';
import type { Hasher, Passwords } from '#kit/auth/passwords.ts';
import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { AppError, toAppError } from '#kit/errors.ts';
import type { Log } from '#kit/log.ts';
import { networkOf } from '#kit/network.ts';
import { type Account, checkCredentials, usernameKey } from './account.ts';
import type { Accounts } from './accounts.ts';
import {
  clearAttempts,
  oldestAttempt,
  replaceHash,
  reserveAttempt,
  sweepAttempts,
  type Tables,
} from './store.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
  readonly remoteAddress: string;
}

export interface LoginsOptions {
  readonly database: Database<Tables>;
  readonly accounts: Accounts;
  readonly passwords: Passwords;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Registry;
}

const windowMs = 5 * 60_000;
const sweepEveryMs = 60_000;

/**
 * Signs accounts in: at most ten failures in five minutes for a username from one network. An attempt is counted before
 * its password is checked, and a correct one clears the count, so parallel guesses gain nothing.
 */
export class Logins {
  readonly #options: LoginsOptions;
  readonly #counter: Counter<'outcome'>;

  constructor(options: LoginsOptions) {
    this.#options = options;
    this.#counter = new Counter({
      name: 'authz_logins_total',
      help: 'Sign-ins by outcome: ok, or the code of the error',
      labelNames: ['outcome'],
      registers: [options.metrics],
    });
  }

  /** The account. An unknown name, a wrong password and a disabled account give the same error, in text and time. */
  async login(credentials: Credentials): Promise<Account> {
    const { remoteAddress } = credentials;
    try {
      const account = await this.#login(credentials);
      this.#record('ok', { uid: account.uid, username: account.username, remoteAddress });
      return account;
    } catch (error) {
      this.#record(toAppError(error).code, { remoteAddress });
      throw error;
    }
  }

  /** Forgets attempts that no longer count, so that their table stays small. */
  async sweep(): Promise<void> {
    await sweepAttempts.run(this.#options.database, { cutoffMs: this.#cutoffMs() });
  }

  /** Sweeps every minute until disposed of. */
  sweeping(): Disposable {
    const { log } = this.#options;
    const sweep = () =>
      this.sweep().catch((error) => log.error({ err: error }, 'old sign-in attempts could not be removed'));
    const timer = setInterval(sweep, sweepEveryMs).unref();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }

  /** The name of a failed attempt is not kept: people type passwords there. */
  #record(outcome: string, who: { uid?: number; username?: string; remoteAddress: string }): void {
    this.#counter.inc({ outcome });
    this.#options.log.info({ outcome, ...who }, 'sign-in');
  }

  async #login(credentials: Credentials): Promise<Account> {
    checkCredentials(credentials);
    const login = loginKey(credentials);
    // Checked before waiting for a slot: a rejected client must not delay the others.
    const retryAfterMs = await this.#retryAfterMs(login);
    if (retryAfterMs > 0) throw limited(retryAfterMs);
    return this.#options.passwords.inTurn((hasher) => this.#attempt(hasher, login, credentials));
  }

  async #attempt(hasher: Hasher, login: string, { username, password }: Credentials): Promise<Account> {
    const { database, accounts } = this.#options;
    await this.#reserve(login);
    const account = await accounts.byUsername(username);
    const right = await hasher.verify(account?.passwordHash, password);
    if (!account || !right || account.disabled) {
      throw new AppError('unauthenticated', 'The username or the password is wrong.', {
        reason: 'INVALID_CREDENTIALS',
      });
    }
    await clearAttempts.run(database, { login });
    await this.#renewHash(hasher, account.uid, { before: account.passwordHash, password });
    return account;
  }

  async #reserve(login: string): Promise<void> {
    const nowMs = this.#options.clock.now();
    const attempt = { login, nowMs, cutoffMs: this.#cutoffMs() };
    const { changes } = await reserveAttempt.run(this.#options.database, attempt);
    if (changes === 0) throw limited(await this.#retryAfterMs(login));
  }

  async #renewHash(hasher: Hasher, uid: number, old: { before: string; password: string }): Promise<void> {
    if (!this.#options.passwords.needsRehash(old.before)) return;
    const after = await hasher.hash(old.password);
    await replaceHash.run(this.#options.database, { uid, before: old.before, after });
  }

  async #retryAfterMs(login: string): Promise<number> {
    const oldest = await oldestAttempt.first(this.#options.database, { login });
    return (oldest?.at_0_ms ?? 0) - this.#cutoffMs();
  }

  #cutoffMs(): number {
    return this.#options.clock.now() - windowMs;
  }
}

/** Hashed, so that a row is short whatever was typed, a password in the wrong box is not kept, and NUL does no harm. */
function loginKey({ username, remoteAddress }: Credentials): string {
  return createHash('sha256')
    .update(`${usernameKey(username)}\0${networkOf(remoteAddress)}`)
    .digest('base64url');
}

function limited(retryAfterMs: number): AppError {
  return new AppError('rate_limited', 'Too many failed sign-ins. Please try again later.', {
    retryAfterSeconds: Math.max(1, Math.ceil(retryAfterMs / 1_000)),
  });
}
