import type { Clock, Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { Hasher } from '@octavo/core/passwords';
import type { Database } from '@octavo/data';
import { replacePassword, type StoredAccount, type Tables } from '../store.ts';
import { type Account, checkPassword, checkPasswordChange } from './account.ts';
import type { Accounts } from './accounts.ts';
import { ownPasswordKey, type PasswordAttempts } from './password-attempts.ts';

export interface OwnPasswordOptions {
  readonly database: Database<Tables>;
  readonly accounts: Accounts;
  readonly attempts: PasswordAttempts;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OwnPasswordCheck {
  readonly uid: number;
  readonly password: string;
  readonly remoteAddress: string;
}

export interface PasswordChange {
  readonly uid: number;
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly remoteAddress: string;
}

/** Confirms and changes the password of a signed-in user. */
export class OwnPassword {
  readonly #options: OwnPasswordOptions;

  constructor(options: OwnPasswordOptions) {
    this.#options = options;
  }

  /** The account, if the password is right. Throws INVALID_CREDENTIALS, or `rate_limited` after too many failures. */
  async confirm(given: OwnPasswordCheck): Promise<StoredAccount> {
    checkPassword(given.password);
    return this.#checked(given, async (account) => account);
  }

  /** The account with its new `passwordChangedAtMs`. */
  async change({ uid, currentPassword, newPassword, remoteAddress }: PasswordChange): Promise<Account> {
    await checkPasswordChange({ currentPassword, newPassword });
    const { database, accounts, clock, log } = this.#options;
    const given = { uid, password: currentPassword, remoteAddress };
    const [account, after] = await this.#checked(
      given,
      async (account, hasher) => [account, await hasher.hash(newPassword)] as const,
    );
    const change = { uid, before: account.passwordHash, after, demo: 0, nowMs: clock.now() } as const;
    const { numUpdatedRows } = await replacePassword(database, change);
    if (numUpdatedRows === 0n) {
      throw new AppError('conflict', 'The password was changed at the same time.', {
        reason: 'PASSWORD_CHANGED',
      });
    }
    log.info({ uid, username: account.username, remoteAddress }, 'own password changed');
    return accounts.enabledByUid(uid);
  }

  async #checked<T>(
    { uid, password, remoteAddress }: OwnPasswordCheck,
    work: (account: StoredAccount, hasher: Hasher) => Promise<T>,
  ): Promise<T> {
    const { accounts, attempts, log } = this.#options;
    const known = await accounts.enabledByUid(uid);
    return attempts.run(ownPasswordKey({ uid: known.uid, remoteAddress }), async (hasher) => {
      // Read in the slot: the password may have been changed while this waited.
      const account = await accounts.enabledByUid(uid);
      if (await hasher.verify(account.passwordHash, password)) return work(account, hasher);
      log.info({ uid, remoteAddress }, 'own password was wrong');
      throw new AppError('unauthenticated', 'The current password is wrong.', {
        reason: 'INVALID_CREDENTIALS',
      });
    });
  }
}
