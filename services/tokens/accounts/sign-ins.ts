import type { Clock } from '@octavo/core';
import type { Visitor } from '@octavo/core/auth';
import { bearerToken, normalizeEmail } from '@octavo/core/auth';
import { judgeRefresh } from '@octavo/core/jwt';
import type { Passwords } from '@octavo/core/passwords';
import type { Audit } from '../audit.ts';
import { errors } from '../errors.ts';
import type { Lockout } from './lockout.ts';
import type { Sessions, Users } from './store.ts';
import type { TokenPair, Tokens } from './tokens.ts';
import type { AccountMails, Caller, Session, User } from './user.ts';

export interface SignInsOptions {
  readonly users: Users;
  readonly sessions: Sessions;
  /** Absent if there is no key: every method that needs it then throws MISSING_SECRET. */
  readonly tokens: Tokens | undefined;
  readonly passwords: Passwords;
  /** Lockout by e-mail address, registered or not. */
  readonly lockout: Lockout;
  readonly mails: AccountMails;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** Turns a password into a session, and a token into its caller. */
export class SignIns {
  readonly #options: SignInsOptions;

  constructor(options: SignInsOptions) {
    this.#options = options;
  }

  async login(given: { email: string; password: string }, visitor: Visitor): Promise<TokenPair> {
    this.checkCanIssue();
    const email = normalizeEmail(given.email);
    // No account has an invalid address, so the error reveals nothing.
    if (email === undefined) throw errors.invalidCredentials();
    const { users, passwords, lockout, mails, audit } = this.#options;
    const user = users.findByEmail(email);
    const passwordHash = user?.passwordHash;
    const isRight = await lockout.attempt(email, {
      verify: () => passwords.verify(passwordHash, given.password),
      whileLocked: () => passwords.verify(undefined, given.password),
    });
    // The password may have been changed, or the user deleted, while it was verified.
    if (isRight && user && users.find(user.id) === user && user.passwordHash === passwordHash) {
      if (mails.isVerificationRequired && !user.isVerified) {
        mails.sendVerification(user);
        throw errors.emailNotVerified();
      }
      audit.note('authn_login_success', { userId: user.id, address: visitor.address });
      return this.startSession(user, visitor);
    }
    const facts = { userId: user?.id, address: visitor.address };
    audit.note('authn_login_fail', facts);
    if (lockout.lockedForSeconds(email) > 0) audit.note('authn_login_lock', facts);
    throw errors.invalidCredentials();
  }

  /** The first tokens of a new session. */
  startSession(user: User, visitor: Visitor): TokenPair {
    const { sessions, clock } = this.#options;
    return this.#tokens().issue(sessions.add(user, visitor, clock.now()));
  }

  /** Exchanges a token. Nothing here is asynchronous, so exactly one of several requests with the same token finds it active. */
  refresh(refreshToken: string, visitor: Visitor): TokenPair {
    const tokens = this.#tokens();
    const { users, sessions, audit, clock } = this.#options;
    const { sub, sid, generation, tokenHash } = tokens.readRefresh(refreshToken);
    const user = users.find(sub);
    if (!user) throw errors.userNotFound();
    const nowMs = clock.now();
    const session = sessions.find(sid, nowMs);
    if (!session || session.user !== user || isUnknown(generation, tokenHash, session)) {
      throw errors.invalidToken();
    }
    const facts = { userId: user.id, sessionId: session.id, address: visitor.address };
    const verdict = judgeRefresh(generation, session, nowMs);
    if (verdict === 'active') {
      audit.note('authn_token_created', facts);
      return tokens.issue(session);
    }
    if (verdict === 'replay') sessions.revoke(session);
    audit.note(verdict === 'replay' ? 'authn_token_reuse' : 'refresh_race', facts);
    throw errors.invalidToken();
  }

  /** Ends the session of a refresh token. An invalid token is not an error (RFC 7009 section 2.2). */
  logout(refreshToken: string): void {
    const session = this.#sessionOf(refreshToken);
    if (!session) return;
    this.#options.sessions.revoke(session);
    this.#options.audit.note('authn_token_revoked', { userId: session.user.id, sessionId: session.id });
  }

  logoutAll({ user }: Caller): void {
    this.#options.sessions.revokeAll(user);
    this.#options.audit.note('authn_token_revoked', { userId: user.id });
  }

  /** The live sessions of a user, newest first. */
  sessionsOf({ user }: Caller): Session[] {
    return this.#options.sessions.of(user, this.#options.clock.now());
  }

  revokeSession({ user }: Caller, id: string): void {
    const { sessions, clock, audit } = this.#options;
    const session = sessions.find(id, clock.now());
    if (session?.user !== user) throw errors.sessionNotFound();
    sessions.revoke(session);
    audit.note('authn_token_revoked', { userId: user.id, sessionId: id });
  }

  /** The caller named by an `Authorization` header. */
  identify(authorization: string | undefined): Caller {
    const token = bearerToken(authorization);
    if (token === undefined) throw errors.missingToken();
    return this.identifyToken(token);
  }

  /** The caller named by an access token. Checks in this order: signature, time, claims, user, session. */
  identifyToken(accessToken: string): Caller {
    const claims = this.#tokens().readAccess(accessToken);
    const { users, sessions, clock } = this.#options;
    const user = users.find(claims.sub);
    if (!user) throw errors.userNotFound();
    const nowMs = clock.now();
    const session = sessions.find(claims.sid, nowMs);
    if (session?.user !== user) throw errors.invalidToken();
    session.lastUsedMs = nowMs;
    return { user, session, claims };
  }

  get canIssue(): boolean {
    return this.#options.tokens !== undefined;
  }

  /** Throws MISSING_SECRET if there is no key. */
  checkCanIssue(): void {
    this.#tokens();
  }

  #tokens(): Tokens {
    if (!this.#options.tokens) throw errors.missingSecret();
    return this.#options.tokens;
  }

  #sessionOf(refreshToken: string): Session | undefined {
    const tokens = this.#tokens();
    try {
      const { sub, sid } = tokens.readRefresh(refreshToken);
      const session = this.#options.sessions.find(sid, this.#options.clock.now());
      return session?.user.id === sub ? session : undefined;
    } catch {
      return undefined;
    }
  }
}

/** Signed with the right key, but never issued for this session. */
function isUnknown(generation: number, tokenHash: string, session: Session): boolean {
  return (
    generation > session.generation || (generation === session.generation && tokenHash !== session.tokenHash)
  );
}
