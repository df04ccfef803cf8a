import type { Log } from '@octavo/core';
import { AppError, toAppError } from '@octavo/core';
import type { Hasher, Passwords } from '@octavo/core/passwords';
import type { Database } from '@octavo/data';
import { passwordsOff } from '@octavo/people/sign-in';
import { Counter, type Registry } from 'prom-client';
import { replaceHash, type Tables } from '../store.ts';
import { type Account, checkCredentials } from './account.ts';
import type { Accounts } from './accounts.ts';
import { loginKey, type PasswordAttempts } from './password-attempts.ts';

export interface Credentials {
  readonly username: string;
  readonly password: string;
  readonly remoteAddress: string;
}

export interface LoginsOptions {
  readonly database: Database<Tables>;
  readonly accounts: Accounts;
  readonly passwords: Passwords;
  readonly attempts: PasswordAttempts;
  readonly log: Log;
  readonly metrics: Registry;
  /** True if passwords are off. */
  readonly isOff: boolean;
}

/** Signs accounts in: at most ten failures in five minutes for a username from one network. */
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

  /** The username of a failed attempt is not logged: people type passwords there by mistake. */
  #record(outcome: string, who: { uid?: number; username?: string; remoteAddress: string }): void {
    this.#counter.inc({ outcome });
    this.#options.log.info({ outcome, ...who }, 'sign-in');
  }

  async #login(credentials: Credentials): Promise<Account> {
    if (this.#options.isOff) throw passwordsOff();
    checkCredentials(credentials);
    const { attempts } = this.#options;
    return attempts.run(loginKey(credentials), (hasher) => this.#attempt(hasher, credentials));
  }

  async #attempt(hasher: Hasher, { username, password }: Credentials): Promise<Account> {
    const account = await this.#options.accounts.byUsername(username);
    const right = await hasher.verify(account?.passwordHash, password);
    if (!account || !right || account.disabled) {
      throw new AppError('unauthenticated', 'The username or the password is wrong.', {
        reason: 'INVALID_CREDENTIALS',
      });
    }
    await this.#updateHash(hasher, account.uid, { before: account.passwordHash, password });
    return account;
  }

  async #updateHash(hasher: Hasher, uid: number, old: { before: string; password: string }): Promise<void> {
    if (!this.#options.passwords.needsRehash(old.before)) return;
    const after = await hasher.hash(old.password);
    await replaceHash(this.#options.database, { uid, before: old.before, after });
  }
}
