import { createHmac, hash } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { newOrderedId, newSecret } from '@octavo/core';
import type { Visitor } from '@octavo/core/auth';
import { bearerToken } from '@octavo/core/auth';
import { judgeRefresh } from '@octavo/core/jwt';
import type { Database, WriteSession } from '@octavo/data';
import type { Audit } from '../audit.ts';
import { authErrors } from '../errors.ts';
import type { MailQueue } from '../mail/index.ts';
import type { Tables } from '../store/store.ts';
import { clearFailures, findUser, touchUser, type User } from '../users/index.ts';
import type { AccessTokens } from './access-tokens.ts';
import { type Caller, isFresh, orUndefined } from './caller.ts';
import type { Method, Session, TokenPair } from './session.ts';
import {
  deleteExcessSessions,
  deleteSession,
  deleteSessionOf,
  deleteSessionsOf,
  findSession,
  insertSession,
  insertToken,
  rotateSession,
  sessionOfToken,
  sessionsOf,
  takeOver,
  touchSession,
} from './store.ts';

interface SessionsOptions {
  readonly database: Database<Tables>;
  readonly accessTokens: AccessTokens;
  readonly mails: MailQueue;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly refreshSeconds: number;
  readonly sessionSecondsMax: number;
  /** Time for which an exchanged token returns the same new token again; 0 turns this off. */
  readonly retrySeconds: number;
  /** Derives new tokens from old ones if they may be returned again. */
  readonly refreshKey: Buffer;
}

const sessionsMax = 100;
const touchEveryMs = 60_000;

/** Sessions with their access and refresh tokens. */
export class Sessions {
  readonly #options: SessionsOptions;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Signs a user in, in the caller's transaction. A link or a passkey also clears the counters of wrong TOTP codes. */
  async open(
    session: WriteSession<Tables>,
    { user, amr, visitor }: { user: User; amr: readonly Method[]; visitor: Visitor },
  ): Promise<TokenPair> {
    const { clock, audit, refreshSeconds, sessionSecondsMax } = this.#options;
    const nowMs = clock.now();
    const expiresMs = nowMs + Math.min(refreshSeconds, sessionSecondsMax) * 1_000;
    const { address, userAgent } = visitor;
    const opened = {
      id: newOrderedId(),
      userId: user.id,
      amr: amr.join(' '),
      address,
      userAgent,
      nowMs,
      expiresMs,
    };
    await insertSession(session, opened);
    const refreshToken = newSecret();
    await insertToken(session, { hash: hashOf(refreshToken), sessionId: opened.id, generation: 1 });
    await deleteExcessSessions(session, { userId: user.id, keep: sessionsMax });
    const unblocks = amr.some((method) => unblocksTotp.has(method));
    await touchUser(session, { id: user.id, nowMs, unblocks });
    if (unblocks) await clearFailures(session, user);
    const facts = { userId: user.id, sessionId: opened.id, address };
    await audit.record(session, 'authn_login_success', facts);
    return this.#pair(user, { ...opened, amr, authenticatedMs: nowMs }, refreshToken);
  }

  /** Exchanges a refresh token. Of several requests with the same token, one wins. Throws INVALID_TOKEN or TOKEN_EXPIRED. */
  async refresh(refreshToken: string, visitor: Visitor): Promise<TokenPair> {
    const { database, audit, clock, refreshSeconds, sessionSecondsMax } = this.#options;
    const nowMs = clock.now();
    const next = this.#nextToken(refreshToken);
    const rotation = {
      hash: hashOf(refreshToken),
      nowMs,
      expiresMs: nowMs + refreshSeconds * 1_000,
      sessionMs: sessionSecondsMax * 1_000,
    };
    const rotated = await database.write(async (session) => {
      const rotatedSession = await rotateSession(session, rotation);
      if (!rotatedSession) return undefined;
      await insertToken(session, {
        hash: hashOf(next),
        sessionId: rotatedSession.id,
        generation: rotatedSession.generation,
      });
      const user = await findUser(session, rotatedSession.userId);
      if (!user) throw authErrors.invalidToken();
      return { session: rotatedSession, user };
    });
    if (!rotated) return this.#explainFailure(refreshToken, visitor);
    const facts = { userId: rotated.user.id, sessionId: rotated.session.id, address: visitor.address };
    audit.note('authn_token_created', facts);
    return this.#pair(rotated.user, rotated.session, next);
  }

  /** Ends the session of a refresh or access token. Unknown and expired tokens are no error (RFC 7009 section 2.2). */
  async revoke(token: string): Promise<void> {
    const { database, audit } = this.#options;
    const caller = token.includes('.') ? await orUndefined(this.identifyToken(token)) : undefined;
    await database.write(async (session) => {
      const ending = caller?.session ?? (await sessionOfToken(session, hashOf(token)))?.session;
      if (!ending) return;
      const { numDeletedRows } = await deleteSession(session, ending.id);
      const facts = { userId: ending.userId, sessionId: ending.id };
      if (numDeletedRows > 0n) await audit.record(session, 'authn_token_revoked', facts);
    });
  }

  /**
   * Ends the session that a browser had before it signed in again. If it was of the same user and recent, the new one counts both methods, so
   * that applications can require two.
   */
  async replace(before: TokenPair, now: TokenPair): Promise<void> {
    const [old, next] = await Promise.all(
      [before, now].map((pair) => orUndefined(this.identifyToken(pair.access_token))),
    );
    if (old && next && old.user.id === next.user.id) {
      const isRecent = isFresh(old, this.#options.clock.now());
      const amr = new Set([...(isRecent ? old.session.amr : []), ...next.session.amr]);
      await takeOver(this.#options.database, {
        from: old.session.id,
        to: next.session.id,
        amr: [...amr].join(' '),
      });
    }
    await this.revoke(before.refresh_token);
  }

  async revokeOne({ user }: Pick<Caller, 'user'>, id: string): Promise<void> {
    const { database, audit } = this.#options;
    if (!uuid.test(id)) throw authErrors.sessionNotFound();
    await database.write(async (session) => {
      const { numDeletedRows } = await deleteSessionOf(session, { id, userId: user.id });
      if (numDeletedRows === 0n) throw authErrors.sessionNotFound();
      await audit.record(session, 'authn_token_revoked', { userId: user.id, sessionId: id });
    });
  }

  async revokeAll(
    { user }: Pick<Caller, 'user'>,
    { visitor, locale }: { visitor: Visitor; locale: string | undefined },
  ): Promise<void> {
    const { database, audit, mails } = this.#options;
    await database.write(async (session) => {
      await deleteSessionsOf(session, user.id);
      await audit.record(session, 'authn_token_revoked', { userId: user.id, address: visitor.address });
      if (user.isVerified)
        await mails.enqueue(session, {
          kind: 'security',
          event: 'signed-out-everywhere',
          to: user.email,
          locale,
        });
    });
    mails.wakeWorkers();
  }

  /** The sessions of a user that have not expired, newest first. */
  of({ user }: Pick<Caller, 'user'>): Promise<Session[]> {
    return sessionsOf(this.#options.database, user.id, this.#options.clock.now());
  }

  /** The caller of an `Authorization` header. Throws MISSING_TOKEN, INVALID_TOKEN or TOKEN_EXPIRED. */
  async identify(authorization: string | undefined): Promise<Caller> {
    const token = bearerToken(authorization);
    if (token === undefined) throw authErrors.missingToken();
    return this.identifyToken(token);
  }

  /** The caller of an access token. Throws INVALID_TOKEN, also if its session has ended, or TOKEN_EXPIRED. */
  async identifyToken(accessToken: string): Promise<Caller> {
    const { database, accessTokens, clock } = this.#options;
    const { sub, sid } = accessTokens.verify(accessToken);
    const nowMs = clock.now();
    const session = await findSession(database, sid);
    if (!session || session.userId !== sub || session.expiresMs <= nowMs) throw authErrors.invalidToken();
    const user = await findUser(database, sub);
    if (!user) throw authErrors.invalidToken();
    if (nowMs - session.lastUsedMs > touchEveryMs) await touchSession(database, sid, nowMs);
    return { user, session };
  }

  /** Finds out why an exchange failed. A replay ends the session, which must be committed although the request fails. */
  async #explainFailure(refreshToken: string, visitor: Visitor): Promise<TokenPair> {
    const { database, audit, clock, mails } = this.#options;
    const result = await database.write(async (session) => {
      const nowMs = clock.now();
      const found = await sessionOfToken(session, hashOf(refreshToken));
      if (!found) return authErrors.invalidToken();
      const verdict = judgeRefresh(found.generation, found.session, nowMs);
      if (verdict === 'active') return authErrors.tokenExpired();
      const facts = {
        userId: found.session.userId,
        sessionId: found.session.id,
        address: visitor.address,
      };
      if (verdict === 'race') {
        const retried = await this.#retry(session, refreshToken, found.session);
        if (retried) return retried;
        audit.note('refresh_race', facts);
        return authErrors.invalidToken();
      }
      await deleteSession(session, found.session.id);
      await audit.record(session, 'authn_token_reuse', facts);
      const user = await findUser(session, found.session.userId);
      if (user?.isVerified)
        await mails.enqueue(session, { kind: 'security', event: 'session-replayed', to: user.email });
      return authErrors.invalidToken();
    });
    mails.wakeWorkers();
    if (result instanceof Error) throw result;
    return result;
  }

  /** Returns the same new token again, if that is allowed and it is unused. */
  async #retry(
    session: WriteSession<Tables>,
    refreshToken: string,
    family: Session,
  ): Promise<TokenPair | undefined> {
    const { clock, retrySeconds } = this.#options;
    const { rotatedMs = 0, userId } = family;
    if (retrySeconds === 0 || clock.now() - rotatedMs > retrySeconds * 1_000) return undefined;
    const next = this.#nextToken(refreshToken);
    const found = await sessionOfToken(session, hashOf(next));
    const user = await findUser(session, userId);
    if (found?.generation !== family.generation || !user || family.expiresMs <= clock.now()) return undefined;
    return this.#pair(user, family, next);
  }

  #nextToken(refreshToken: string): string {
    const { retrySeconds, refreshKey } = this.#options;
    if (retrySeconds === 0) return newSecret();
    return createHmac('sha256', refreshKey).update(refreshToken).digest('base64url');
  }

  #pair(
    user: User,
    session: Pick<Session, 'id' | 'amr' | 'authenticatedMs'>,
    refreshToken: string,
  ): TokenPair {
    return { access_token: this.#options.accessTokens.sign(user, session), refresh_token: refreshToken };
  }
}

const unblocksTotp: ReadonlySet<Method> = new Set(['email', 'hwk', 'swk']);
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A token is 256 random bits, so its hash needs no salt. */
function hashOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
