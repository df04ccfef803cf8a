import { bearerToken } from '#kit/auth/bearer.ts';
import { normalizeEmail } from '#kit/auth/email.ts';
import { judgeRefresh } from '#kit/auth/refresh.ts';
import type { Visitor } from '#kit/auth/visitor.ts';
import type { Clock } from '#kit/clock.ts';
import type { Audit } from './audit.ts';
import type { Caller } from './caller.ts';
import type { Lockout } from './lockout.ts';
import type { PasswordHashes } from './password-hashes.ts';
import { refusals } from './refusals.ts';
import type { Session, Sessions } from './sessions.ts';
import type { TokenPair, Tokens } from './tokens.ts';
import type { User, Users } from './users.ts';

export interface SignInsOptions {
  readonly users: Users;
  readonly sessions: Sessions;
  /** Absent where there is no key: every method that needs them throws MISSING_SECRET. */
  readonly tokens: Tokens | undefined;
  readonly hashes: PasswordHashes;
  /** By address, known or not. */
  readonly lockout: Lockout;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** From a password to a session, and from a token to whoever holds it. */
export class SignIns {
  readonly #options: SignInsOptions;

  constructor(options: SignInsOptions) {
    this.#options = options;
  }

  async login(given: { email: string; password: string }, visitor: Visitor): Promise<TokenPair> {
    this.tokens();
    const email = normalizeEmail(given.email);
    // Nobody can have registered what is no address, so there is nothing to tell apart.
    if (email === undefined) throw refusals.invalidCredentials();
    const { users, hashes, lockout, audit } = this.#options;
    const user = users.findByEmail(email);
    const passwordHash = user?.passwordHash;
    const isRight = await lockout.attempt(email, {
      verify: () => hashes.verify(passwordHash, given.password),
      whileLocked: () => hashes.verify(undefined, given.password),
    });
    // The password may have been changed, or the user deleted, while it was verified.
    if (isRight && user && users.find(user.id) === user && user.passwordHash === passwordHash) {
      audit.note('authn_login_success', { userId: user.id, address: visitor.address });
      return this.open(user, visitor);
    }
    const facts = { userId: user?.id, address: visitor.address };
    audit.note('authn_login_fail', facts);
    if (lockout.lockedForSeconds(email) > 0) audit.note('authn_login_lock', facts);
    throw refusals.invalidCredentials();
  }

  /** A new session with its first tokens. */
  open(user: User, visitor: Visitor): TokenPair {
    const { sessions, clock } = this.#options;
    return this.tokens().issue(sessions.open(user, visitor, clock.now()));
  }

  /** Nothing in here waits, so that of requests with the same token exactly one finds it active. */
  refresh(refreshToken: string, visitor: Visitor): TokenPair {
    const tokens = this.tokens();
    const { users, sessions, audit, clock } = this.#options;
    const { sub, sid, generation, tokenHash } = tokens.readRefresh(refreshToken);
    const user = users.find(sub);
    if (!user) throw refusals.userNotFound();
    const nowMs = clock.now();
    const session = sessions.find(sid, nowMs);
    if (!session || session.user !== user || isUnknown(generation, tokenHash, session)) {
      throw refusals.invalidToken();
    }
    const facts = { userId: user.id, sessionId: session.id, address: visitor.address };
    const verdict = judgeRefresh(generation, session, nowMs);
    if (verdict === 'active') {
      audit.note('authn_token_created', facts);
      return tokens.issue(session);
    }
    if (verdict === 'replay') sessions.revoke(session);
    audit.note(verdict === 'replay' ? 'authn_token_reuse' : 'refresh_race', facts);
    throw refusals.invalidToken();
  }

  /** Ends the session of a refresh token. One that means nothing (any more) is as good as ended (RFC 7009 section 2.2). */
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
    if (session?.user !== user) throw refusals.sessionNotFound();
    sessions.revoke(session);
    audit.note('authn_token_revoked', { userId: user.id, sessionId: id });
  }

  /** Who an `Authorization` header speaks for. */
  identify(authorization: string | undefined): Caller {
    const token = bearerToken(authorization);
    if (token === undefined) throw refusals.missingToken();
    return this.identifyToken(token);
  }

  /** Who an access token speaks for. Checked in this order: signature, time, claims, user, session. */
  identifyToken(accessToken: string): Caller {
    const claims = this.tokens().readAccess(accessToken);
    const { users, sessions, clock } = this.#options;
    const user = users.find(claims.sub);
    if (!user) throw refusals.userNotFound();
    const nowMs = clock.now();
    const session = sessions.find(claims.sid, nowMs);
    if (session?.user !== user) throw refusals.invalidToken();
    session.lastUsedMs = nowMs;
    return { user, session, claims };
  }

  get canIssue(): boolean {
    return this.#options.tokens !== undefined;
  }

  tokens(): Tokens {
    if (!this.#options.tokens) throw refusals.missingSecret();
    return this.#options.tokens;
  }

  #sessionOf(refreshToken: string): Session | undefined {
    const tokens = this.tokens();
    try {
      const { sub, sid } = tokens.readRefresh(refreshToken);
      const session = this.#options.sessions.find(sid, this.#options.clock.now());
      return session?.user.id === sub ? session : undefined;
    } catch {
      return undefined;
    }
  }
}

/** Never handed out by this session, though signed with the right key. */
function isUnknown(generation: number, tokenHash: string, session: Session): boolean {
  return (
    generation > session.generation || (generation === session.generation && tokenHash !== session.tokenHash)
  );
}
