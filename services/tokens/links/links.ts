import type { Clock } from '@octavo/core';
import { newSecret } from '@octavo/core';
import type { RateLimiter, Visitor } from '@octavo/core/auth';
import { normalizeEmail } from '@octavo/core/auth';
import type { PasswordRules, Passwords } from '@octavo/core/passwords';
import type { Lockout } from '../accounts/lockout.ts';
import type { Sessions, Users } from '../accounts/store.ts';
import type { AccountMails, User } from '../accounts/user.ts';
import type { Audit } from '../audit.ts';
import { errors } from '../errors.ts';
import type { Mails } from '../mail/mails.ts';
import { type LinkPurpose, linkMail, type Notice, noticeMail } from '../mail/texts.ts';
import { pageRoutes } from '../routes.ts';
import type { Links } from './store.ts';

interface MailLinksOptions {
  readonly users: Users;
  readonly sessions: Sessions;
  readonly links: Links;
  readonly passwords: Passwords;
  readonly passwordRules: PasswordRules;
  readonly lockout: Lockout;
  readonly confirmations: Lockout;
  /** Mails with links, by address, registered or not; undefined if there is no limit. */
  readonly limiter: RateLimiter | undefined;
  /** Undefined if this server sends no mails. */
  readonly mails: Mails | undefined;
  readonly verification: 'off' | 'optional' | 'required';
  readonly lifetimesMs: Readonly<Record<LinkPurpose, number>>;
  readonly audit: Audit;
  readonly clock: Clock;
}

const noticeLifeMs = 86_400_000;
const paths = {
  'password-reset': pageRoutes.resetPassword,
  'email-verification': pageRoutes.verifyEmail,
} as const;

/** Password reset and verification of addresses by mail. */
export class MailLinks implements AccountMails {
  readonly #options: MailLinksOptions;
  /** The public address of the service, known once it listens. */
  origin = '';

  constructor(options: MailLinksOptions) {
    this.#options = options;
  }

  /** False if this server sends no mails. */
  get canSend(): boolean {
    return this.#options.mails !== undefined;
  }

  /** True if addresses are verified at all. */
  get verifies(): boolean {
    return this.canSend && this.#options.verification !== 'off';
  }

  /** True if addresses must be verified before they get tokens. */
  get isVerificationRequired(): boolean {
    return this.verifies && this.#options.verification === 'required';
  }

  /**
   * Mails a link to reset the password, if the address is that of an account and was not sent too many. The response does not tell, and unknown addresses
   * take the same work. Throws `unavailable` if this server sends no mails.
   */
  requestReset(given: string, visitor: Visitor): void {
    if (!this.canSend) throw errors.noMail();
    const email = normalizeEmail(given);
    if (email === undefined) return;
    const user = this.#options.users.findByEmail(email);
    this.#sendLink('password-reset', email, user);
    if (user)
      this.#options.audit.note('authn_password_reset_request', {
        userId: user.id,
        address: visitor.address,
      });
  }

  /** Mails a link to verify the address, unless it is verified or was sent too many. */
  sendVerification(user: User): void {
    if (!this.verifies || user.isVerified) return;
    this.#sendLink('email-verification', user.email, user);
  }

  /** Throws INVALID_TOKEN or TOKEN_EXPIRED unless the link can be used now. */
  check(token: string, purpose: LinkPurpose): void {
    this.#options.links.find(token, purpose, this.#options.clock.now());
  }

  /** Sets a new password and ends all sessions. A password that is refused does not use up the link. */
  async resetPassword(given: { token: string; newPassword: string }, visitor: Visitor): Promise<void> {
    const { links, passwords, passwordRules, clock } = this.#options;
    const { email } = links.find(given.token, 'password-reset', clock.now());
    await passwordRules.check(given.newPassword, { email });
    const passwordHash = await passwords.hash(given.newPassword);
    // Other requests ran in between: only one of several with this link wins, and a new password voids it.
    const { user } = links.take(given.token, 'password-reset', clock.now());
    const { sessions, lockout, confirmations, audit } = this.#options;
    user.passwordHash = passwordHash;
    user.isVerified = true;
    sessions.revokeAll(user);
    lockout.forget(user.email);
    confirmations.forget(user.id);
    links.forget(user);
    audit.note('authn_password_change', { userId: user.id, address: visitor.address });
    this.notify('password-changed', user.email);
  }

  /** Throws INVALID_TOKEN or TOKEN_EXPIRED. */
  verifyEmail(token: string): void {
    const { links, audit, clock } = this.#options;
    const { user } = links.take(token, 'email-verification', clock.now());
    user.isVerified = true;
    audit.note('user_updated', { userId: user.id });
  }

  /** Voids the links of a user whose password, address or account has changed. */
  forget(user: User): void {
    this.#options.links.forget(user);
  }

  /** Mails a notice about a change. */
  notify(notice: Notice, to: string): void {
    const { mails, clock } = this.#options;
    if (!mails) return;
    const nowMs = clock.now();
    const url = `${this.origin}${pageRoutes.forgotPassword}`;
    const text = noticeMail(notice, { service: mails.service, url, nowMs });
    mails.send({ ...text, kind: notice, to, expiresMs: nowMs + noticeLifeMs });
  }

  #sendLink(purpose: LinkPurpose, email: string, user: User | undefined): void {
    const { mails, links, limiter, lifetimesMs, clock } = this.#options;
    const nowMs = clock.now();
    if (!mails || limiter?.take(`${purpose} ${email}`, nowMs).isAllowed === false) return;
    const lifetimeMs = lifetimesMs[purpose];
    const expiresMs = nowMs + lifetimeMs;
    const token = user ? links.add({ purpose, user, email, expiresMs }) : newSecret();
    const text = linkMail(purpose, {
      service: mails.service,
      link: `${this.origin}${paths[purpose]}?token=${token}`,
      minutes: Math.max(1, Math.round(lifetimeMs / 60_000)),
    });
    if (user) mails.send({ ...text, kind: purpose, to: email, expiresMs });
  }
}
