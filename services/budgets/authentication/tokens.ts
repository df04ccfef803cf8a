import { bearerToken } from '#kit/auth/bearer.ts';
import { createJwt, type Jwt, type JwtClaims } from '#kit/auth/jwt.ts';
import type { Clock } from '#kit/clock.ts';
import type { Executor } from '#kit/db/index.ts';
import { AppError } from '#kit/errors.ts';
import { newId } from '#kit/ids.ts';
import type { Caller, Core } from '../commands.ts';
import { accountOfSession, deleteSession, insertSession } from './store.ts';
import { errors } from './user.ts';

/** How long a token is valid. */
export const tokenSeconds = 3_600;
/** How long a browser stays signed in on the pages. */
export const browserSeconds = 14 * 86_400;

const issuer = 'octavo-budgets';
const verifiedTokensMax = 10_000;

/** Signs and verifies the tokens of this service. */
export function createTokens(secret: string, clock: Clock): Jwt {
  return createJwt({
    secret,
    clock,
    issuer,
    audience: issuer,
    cacheSize: verifiedTokensMax,
    leewaySeconds: 0,
  });
}

/** A session that has begun. Its token is {@link tokenOf} these. */
export interface NewSession {
  readonly sessionId: string;
  readonly userId: string;
  readonly startedAtMs: number;
}

/** Starts a session in the caller's transaction: for as long as its token, or `seconds`. */
export async function startSession(
  session: Executor,
  {
    owner,
    userId,
    nowMs,
    seconds = tokenSeconds,
  }: { owner: number; userId: string; nowMs: number; seconds?: number | undefined },
): Promise<NewSession> {
  const sessionId = newId();
  await insertSession.run(session, { id: sessionId, owner, nowMs, expiresAtMs: nowMs + seconds * 1_000 });
  return { sessionId, userId, startedAtMs: nowMs };
}

/** The token of a session, always the same. */
export function tokenOf(tokens: Jwt, { sessionId, userId, startedAtMs }: NewSession): string {
  return tokens.sign({ sub: userId, jti: sessionId }, tokenSeconds, startedAtMs);
}

/** A caller with the session of the token, and when the token expires. */
export interface SignedIn extends Caller {
  readonly sessionId: string;
  readonly expiresAtMs: number;
}

/** Who a token is for, on every edge. Throws `unauthenticated`, or `forbidden` if the account is disabled. */
export async function authenticate(core: Core, tokens: Jwt, token: string): Promise<SignedIn> {
  const { jti, sub, exp } = verify(tokens, token);
  const found = await accountOfSession.first(core.db, { id: String(jti), nowMs: core.clock.now() });
  if (!found || found.userId !== sub) throw errors.unauthorized();
  if (found.disabled === 1) throw errors.disabled();
  return { owner: found.owner, userId: found.userId, sessionId: String(jti), expiresAtMs: exp * 1_000 };
}

/** Who a session of the pages is for; undefined once it has ended or the account is disabled. */
export async function authenticateSession(core: Core, sessionId: string): Promise<SignedIn | undefined> {
  const found = await accountOfSession.first(core.db, { id: sessionId, nowMs: core.clock.now() });
  if (!found || found.disabled === 1) return undefined;
  const { owner, userId, expiresAtMs } = found;
  return { owner, userId, sessionId, expiresAtMs };
}

/** Who an `Authorization` header names. */
export function authenticateHeader(
  core: Core,
  tokens: Jwt,
  authorization: string | undefined,
): Promise<SignedIn> {
  const token = bearerToken(authorization);
  if (token === undefined) throw errors.unauthorized();
  return authenticate(core, tokens, token);
}

/** Ends the session of a token. */
export async function endSession(db: Executor, { sessionId }: Pick<SignedIn, 'sessionId'>): Promise<void> {
  await deleteSession.run(db, { id: sessionId });
}

/** The reasons of the kit are not codes of this API. */
function verify(tokens: Jwt, token: string): JwtClaims {
  try {
    return tokens.verify(token);
  } catch (error) {
    if (error instanceof AppError) throw errors.unauthorized();
    throw error;
  }
}
