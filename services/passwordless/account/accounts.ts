import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { Visitor } from '@octavo/core/auth';
import { normalizeEmail } from '@octavo/core/auth';
import { type Database, deleteRows } from '@octavo/data';
import type { Audit } from '../audit.ts';
import { voidLinks } from '../magic-links/index.ts';
import type { MailQueue } from '../mail/index.ts';
import { type Caller, checkFresh } from '../sessions/index.ts';
import type { Tables } from '../store/store.ts';
import { createOwner, deleteUser, factorsOf, lockAddress, type User, usersOf } from '../users/index.ts';

interface AccountsOptions {
  readonly database: Database<Tables>;
  readonly mails: MailQueue;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** The sign-in methods of a user, besides links. */
export interface Factors {
  readonly totp: boolean;
  readonly passkeys: number;
  readonly recoveryCodes: number;
}

/** The account of a user as a whole. */
export class Accounts {
  readonly #options: AccountsOptions;

  constructor(options: AccountsOptions) {
    this.#options = options;
  }

  async factors({ user }: Pick<Caller, 'user'>): Promise<Factors> {
    const found = await factorsOf(this.#options.database, user.id);
    const { totp = 0, passkeys = 0, recovery_codes: recoveryCodes = 0 } = found ?? {};
    return { totp: totp > 0, passkeys, recoveryCodes };
  }

  /** Deletes the user and everything that belongs to them. Audit events with their id stay. Throws REAUTH_REQUIRED. */
  async remove(
    caller: Caller,
    { visitor, locale }: { visitor: Visitor; locale: string | undefined },
  ): Promise<void> {
    checkFresh(caller, undefined, this.#options.clock.now());
    await this.removeUser(caller.user, { visitor, locale });
  }

  /** Removes a user on behalf of another person. */
  async removeUser(
    user: User,
    { visitor, locale }: { visitor: Visitor; locale: string | undefined },
  ): Promise<void> {
    const { database, mails, audit } = this.#options;
    await deleteRows(database, { table: 'user', column: 'id', keys: [user.id] }, async (session) => {
      await lockAddress(session, user.email);
      const { numDeletedRows } = await deleteUser(session, user.id);
      if (numDeletedRows === 0n) return;
      await audit.record(session, 'user_deleted', { userId: user.id, address: visitor.address });
      if (!user.isVerified) return;
      await voidLinks(session, user.email);
      await mails.enqueue(session, { kind: 'security', event: 'account-deleted', to: user.email, locale });
    });
    mails.wakeWorkers();
  }

  /**
   * Adds the owner of an address for a person who vouches for it, such as staff: they sign in by a link. As when a link is used, all who
   * shared the address without owning it are deleted. Throws `validation_failed` or `conflict`, with the field `email`.
   */
  async add(given: string): Promise<User> {
    const { database, audit, clock } = this.#options;
    const email = normalizeEmail(given);
    if (email === undefined)
      throw new AppError('validation_failed', 'This is not a valid e-mail address.', {
        fields: { email: 'is not a valid address' },
      });
    return database.write(async (session) => {
      await lockAddress(session, email);
      const users = await usersOf(session, email);
      if (users.some(({ isVerified }) => isVerified))
        throw new AppError('conflict', 'The address belongs to a user.', {
          fields: { email: 'is already registered' },
        });
      return createOwner({ session, audit }, users, { email, nowMs: clock.now() });
    });
  }
}
