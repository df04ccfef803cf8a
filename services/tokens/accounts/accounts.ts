import type { Clock } from '@octavo/core';
import { newId } from '@octavo/core';
import type { Visitor } from '@octavo/core/auth';
import { normalizeEmail } from '@octavo/core/auth';
import type { PasswordRules, Passwords } from '@octavo/core/passwords';
import type { Audit } from '../audit.ts';
import { errors } from '../errors.ts';
import type { Lockout } from './lockout.ts';
import type { SignIns } from './sign-ins.ts';
import type { Sessions, Users } from './store.ts';
import type { TokenPair } from './tokens.ts';
import type { AccountMails, Caller } from './user.ts';

export interface AccountsOptions {
  readonly users: Users;
  readonly sessions: Sessions;
  readonly signIns: SignIns;
  readonly passwords: Passwords;
  readonly passwordRules: PasswordRules;
  /** Lockout by user: a stolen token must not help to guess the password, nor lock the owner out of signing in. */
  readonly confirmations: Lockout;
  readonly mails: AccountMails;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** Actions of users on their accounts. */
export class Accounts {
  readonly #options: AccountsOptions;

  constructor(options: AccountsOptions) {
    this.#options = options;
  }

  /** Returns no tokens if the address must be verified first. */
  async register(
    given: { email: string; password: string },
    visitor: Visitor,
  ): Promise<TokenPair | undefined> {
    const { users, signIns, passwords, passwordRules, mails, audit, clock } = this.#options;
    const email = normalizeEmail(given.email);
    if (email === undefined) throw errors.invalidEmail();
    await passwordRules.check(given.password, { email });
    signIns.checkCanIssue();
    users.reserve(email);
    try {
      const passwordHash = await passwords.hash(given.password);
      const user = {
        id: newId(),
        email,
        isVerified: false,
        createdMs: clock.now(),
        passwordHash,
        sessions: [],
      };
      users.add(user);
      audit.note('user_created', { userId: user.id, address: visitor.address });
      mails.sendVerification(user);
      return mails.isVerificationRequired ? undefined : signIns.startSession(user, visitor);
    } finally {
      users.release(email);
    }
  }

  async changePassword(caller: Caller, given: { currentPassword: string; newPassword: string }) {
    const { sessions, passwords, passwordRules, confirmations, mails, audit } = this.#options;
    const { user } = caller;
    if (isSame(given.currentPassword, given.newPassword)) {
      throw errors.weakPassword('must differ from the current one');
    }
    await passwordRules.check(given.newPassword, { email: user.email });
    await this.#confirm(caller, given.currentPassword);
    const confirmedHash = user.passwordHash;
    const passwordHash = await passwords.hash(given.newPassword);
    this.#checkStillThere(caller);
    if (user.passwordHash !== confirmedHash) throw errors.wrongPassword();
    user.passwordHash = passwordHash;
    sessions.revokeAll(user);
    confirmations.forget(user.id);
    mails.forget(user);
    audit.note('authn_password_change', { userId: user.id });
    mails.notify('password-changed', user.email);
  }

  async changeEmail(caller: Caller, given: { newEmail: string; password: string }): Promise<void> {
    const email = normalizeEmail(given.newEmail);
    if (email === undefined) throw errors.invalidEmail();
    await this.#confirm(caller, given.password);
    const { users, mails, audit } = this.#options;
    const { user } = caller;
    const { email: oldEmail } = user;
    users.changeEmail(user, email);
    audit.note('user_updated', { userId: user.id });
    if (email === oldEmail) return;
    user.isVerified = false;
    mails.forget(user);
    mails.notify('email-changed', oldEmail);
    mails.sendVerification(user);
  }

  async remove(caller: Caller, password: string): Promise<void> {
    await this.#confirm(caller, password);
    const { users, sessions, confirmations, mails, audit } = this.#options;
    const { user } = caller;
    sessions.revokeAll(user);
    mails.forget(user);
    users.remove(user);
    confirmations.forget(user.id);
    audit.note('user_deleted', { userId: user.id });
  }

  /** Checks the password again. Everything is looked up again afterwards, because other requests ran in between. */
  async #confirm(caller: Caller, password: string): Promise<void> {
    const { passwords, confirmations, audit } = this.#options;
    const { user } = caller;
    const { passwordHash } = user;
    const isRight = await confirmations.attempt(user.id, {
      verify: () => passwords.verify(passwordHash, password),
      whileLocked: () => passwords.verify(undefined, password),
    });
    this.#checkStillThere(caller);
    if (isRight && user.passwordHash === passwordHash) return;
    audit.note('authn_password_change_fail', { userId: user.id });
    throw errors.wrongPassword();
  }

  #checkStillThere({ user, session }: Caller): void {
    const { users, sessions, clock } = this.#options;
    if (users.find(user.id) !== user) throw errors.userNotFound();
    if (sessions.find(session.id, clock.now()) !== session) throw errors.invalidToken();
  }
}

function isSame(one: string, other: string): boolean {
  return one.normalize('NFC') === other.normalize('NFC');
}
