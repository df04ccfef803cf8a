import { normalizeEmail } from '#kit/auth/email.ts';
import type { Visitor } from '#kit/auth/visitor.ts';
import type { Clock } from '#kit/clock.ts';
import { newId } from '#kit/ids.ts';
import type { Audit } from './audit.ts';
import type { Caller } from './caller.ts';
import type { Lockout } from './lockout.ts';
import type { NewPasswords } from './new-passwords.ts';
import type { PasswordHashes } from './password-hashes.ts';
import { refusals } from './refusals.ts';
import type { Sessions } from './sessions.ts';
import type { SignIns } from './sign-ins.ts';
import type { TokenPair } from './tokens.ts';
import type { Users } from './users.ts';

export interface AccountsOptions {
  readonly users: Users;
  readonly sessions: Sessions;
  readonly signIns: SignIns;
  readonly hashes: PasswordHashes;
  readonly newPasswords: NewPasswords;
  /** By user: a stolen token must neither guess the password nor lock its owner out of signing in. */
  readonly confirmations: Lockout;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** What users do with their accounts. */
export class Accounts {
  readonly #options: AccountsOptions;

  constructor(options: AccountsOptions) {
    this.#options = options;
  }

  async register(given: { email: string; password: string }, visitor: Visitor): Promise<TokenPair> {
    const { users, signIns, hashes, newPasswords, audit, clock } = this.#options;
    const email = normalizeEmail(given.email);
    if (email === undefined) throw refusals.invalidEmail();
    await newPasswords.check(given.password, email);
    signIns.tokens();
    users.reserve(email);
    try {
      const passwordHash = await hashes.hash(given.password);
      const user = { id: newId(), email, createdMs: clock.now(), passwordHash, sessions: [] };
      users.add(user);
      audit.note('user_created', { userId: user.id, address: visitor.address });
      return signIns.open(user, visitor);
    } finally {
      users.release(email);
    }
  }

  async changePassword(caller: Caller, given: { currentPassword: string; newPassword: string }) {
    const { sessions, hashes, newPasswords, confirmations, audit } = this.#options;
    const { user } = caller;
    if (isSame(given.currentPassword, given.newPassword)) {
      throw refusals.weakPassword('must not be the one it replaces');
    }
    await newPasswords.check(given.newPassword, user.email);
    await this.#confirm(caller, given.currentPassword);
    const confirmedHash = user.passwordHash;
    const passwordHash = await hashes.hash(given.newPassword);
    this.#checkStillThere(caller);
    if (user.passwordHash !== confirmedHash) throw refusals.wrongPassword();
    user.passwordHash = passwordHash;
    sessions.revokeAll(user);
    confirmations.forget(user.id);
    audit.note('authn_password_change', { userId: user.id });
  }

  async changeEmail(caller: Caller, given: { newEmail: string; password: string }): Promise<void> {
    const email = normalizeEmail(given.newEmail);
    if (email === undefined) throw refusals.invalidEmail();
    await this.#confirm(caller, given.password);
    this.#options.users.changeEmail(caller.user, email);
    this.#options.audit.note('user_updated', { userId: caller.user.id });
  }

  async remove(caller: Caller, password: string): Promise<void> {
    await this.#confirm(caller, password);
    const { users, sessions, confirmations, audit } = this.#options;
    const { user } = caller;
    sessions.revokeAll(user);
    users.remove(user);
    confirmations.forget(user.id);
    audit.note('user_deleted', { userId: user.id });
  }

  /** Asks for the password once more. Everything is looked at again afterwards: other requests went on meanwhile. */
  async #confirm(caller: Caller, password: string): Promise<void> {
    const { hashes, confirmations, audit } = this.#options;
    const { user } = caller;
    const { passwordHash } = user;
    const isRight = await confirmations.attempt(user.id, {
      verify: () => hashes.verify(passwordHash, password),
      whileLocked: () => hashes.verify(undefined, password),
    });
    this.#checkStillThere(caller);
    if (isRight && user.passwordHash === passwordHash) return;
    audit.note('authn_password_change_fail', { userId: user.id });
    throw refusals.wrongPassword();
  }

  #checkStillThere({ user, session }: Caller): void {
    const { users, sessions, clock } = this.#options;
    if (users.find(user.id) !== user) throw refusals.userNotFound();
    if (sessions.find(session.id, clock.now()) !== session) throw refusals.invalidToken();
  }
}

function isSame(one: string, other: string): boolean {
  return one.normalize('NFC') === other.normalize('NFC');
}
