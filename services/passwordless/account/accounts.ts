import type { Visitor } from '#kit/auth/visitor.ts';
import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import type { Audit } from '../audit.ts';
import { voidLinks } from '../magic-links/index.ts';
import type { MailQueue } from '../mail/index.ts';
import { type Caller, checkFresh } from '../sessions/index.ts';
import type { Tables } from '../store.ts';
import { deleteUser, factorsOf, lockAddress } from '../users/index.ts';

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

  async factors({ user }: Caller): Promise<Factors> {
    const found = await factorsOf.first(this.#options.database, { userId: user.id });
    const { totp = 0, passkeys = 0, recovery_codes: recoveryCodes = 0 } = found ?? {};
    return { totp: totp > 0, passkeys, recoveryCodes };
  }

  /** Deletes the user and everything that belongs to them. Audit events with their id stay. Throws REAUTH_REQUIRED. */
  async remove(
    caller: Caller,
    { visitor, locale }: { visitor: Visitor; locale: string | undefined },
  ): Promise<void> {
    const { database, mails, audit, clock } = this.#options;
    checkFresh(caller, undefined, clock.now());
    const { user } = caller;
    await database.write(async (session) => {
      await lockAddress(session, user.email);
      const { changes } = await deleteUser.run(session, { id: user.id });
      if (changes === 0) return;
      await audit.record(session, 'user_deleted', { userId: user.id, address: visitor.address });
      if (!user.isVerified) return;
      await voidLinks.run(session, { email: user.email });
      await mails.enqueue(session, { kind: 'security', event: 'account-deleted', to: user.email, locale });
    });
    mails.wakeWorkers();
  }
}
