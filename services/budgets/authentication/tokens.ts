import { createHash } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { AppError, newId } from '@octavo/core';
import { bearerToken } from '@octavo/core/auth';
import { createJwt, type Jwt, type JwtClaims } from '@octavo/core/jwt';
import type { OidcSignIn } from '@octavo/people/sign-in';
import type { Caller, Context } from '../commands.ts';
import type { Store } from '../store/tables.ts';
import { accountOfSession, deleteSession, insertSession } from './store.ts';
import { errors } from './user.ts';

/** Validity of a token. */
export const tokenSeconds = 3_600;
/** Duration of a browser's session on the pages. */
export const browserSeconds = 14 * 86_400;

const issuer = 'octavo-budgets';
const verifiedTokensMax = 10_000;

/** Signs and verifies the tokens of this service. */
export function createTokens(secret: string, clock: Clock, oidc?: Holders): Tokens {
  const jwt = createJwt({
    secret,
    clock,
    issuer,
    audience: issuer,
    cacheSize: verifiedTokensMax,
    leewaySeconds: 0,
  });
  return { jwt, oidc };
}

/** Tokens of this service, and those of the OpenID provider. */
export interface Tokens {
  readonly jwt: Jwt;
  readonly oidc: Holders | undefined;
}

type Holders = Pick<OidcSignIn<never>, 'holderOf' | 'tokens'>;

/** Content of the pages' cookie. */
export interface BrowserSession {
  /** The session of an account. */
  readonly sessionId: string;
}

/** A session that has begun. Its token is {@link tokenOf} these. */
export interface NewSession {
  readonly sessionId: string;
  readonly userId: string;
  readonly startedAtMs: number;
}

/** Starts a session in the caller's transaction: for as long as its token, or `seconds`. */
export async function startSession(
  session: Store,
  {
    owner,
    userId,
    nowMs,
    seconds = tokenSeconds,
  }: { owner: number; userId: string; nowMs: number; seconds?: number | undefined },
): Promise<NewSession> {
  const sessionId = newId();
  await insertSession(session, {
    id: sessionId,
    owner,
    created_at_ms: nowMs,
    expires_at_ms: nowMs + seconds * 1_000,
  });
  return { sessionId, userId, startedAtMs: nowMs };
}

/** The token of a session, always the same. */
export function tokenOf({ jwt }: Tokens, { sessionId, userId, startedAtMs }: NewSession): string {
  return jwt.sign({ sub: userId, jti: sessionId }, tokenSeconds, startedAtMs);
}

/** A caller with the session of the token, and when the token expires. */
export interface SignedIn extends Caller {
  readonly sessionId: string;
  readonly expiresAtMs: number;
}

/** Returns the account of a token, on every edge. Throws `unauthenticated`, or `forbidden` if the account is disabled. */
export async function authenticate(context: Context, tokens: Tokens, token: string): Promise<SignedIn> {
  const { oidc } = tokens;
  if (oidc?.tokens.isOurs(token)) return authenticateHolder(context, oidc, token);
  const { jti, sub, exp } = verify(tokens, token);
  const found = await accountOfSession.first(context.db, { id: String(jti), nowMs: context.clock.now() });
  if (!found || found.userId !== sub) throw errors.unauthorized();
  if (found.disabled === 1) throw errors.disabled();
  return { owner: found.owner, userId: found.userId, sessionId: String(jti), expiresAtMs: exp * 1_000 };
}

/** An access token of the OpenID provider is verified once, and is a session until it expires. */
async function authenticateHolder(context: Context, oidc: Holders, token: string): Promise<SignedIn> {
  const id = createHash('sha256').update(token).digest('base64url');
  const known = await accountOfSession.first(context.db, { id, nowMs: context.clock.now() });
  if (!known) {
    const holder = await oidc.holderOf(token).catch(inOurWords);
    if (!holder) throw errors.unauthorized();
    const { account, expiresAtMs } = holder;
    const times = { created_at_ms: context.clock.now(), expires_at_ms: expiresAtMs };
    await insertSession(context.db, { id, owner: Number(account), ...times }).catch(ignoreConflict);
  }
  const found = known ?? (await accountOfSession.first(context.db, { id, nowMs: context.clock.now() }));
  if (!found) throw errors.unauthorized();
  if (found.disabled === 1) throw errors.disabled();
  return { owner: found.owner, userId: found.userId, sessionId: id, expiresAtMs: found.expiresAtMs };
}

function inOurWords(error: unknown): never {
  throw error instanceof AppError && error.code === 'unauthenticated' ? errors.unauthorized() : error;
}

/** Another request with this token was first. */
function ignoreConflict(error: unknown): void {
  if (!(error instanceof AppError) || error.code !== 'conflict') throw error;
}

/** Returns the account of a session of the pages; undefined once it has ended or the account is disabled. */
export async function authenticateSession(
  context: Context,
  sessionId: string,
): Promise<SignedIn | undefined> {
  const found = await accountOfSession.first(context.db, { id: sessionId, nowMs: context.clock.now() });
  if (!found || found.disabled === 1) return undefined;
  const { owner, userId, expiresAtMs } = found;
  return { owner, userId, sessionId, expiresAtMs };
}

/** Returns a token of the session of a browser, for `/docs`. It expires after an hour, and ends with the session. */
export async function tokenOfBrowser(
  { context, tokens }: { readonly context: Context; readonly tokens: Tokens },
  browser: BrowserSession | undefined,
): Promise<string | undefined> {
  const found = browser && (await authenticateSession(context, browser.sessionId));
  return found && tokenOf(tokens, { ...found, startedAtMs: context.clock.now() });
}

/** Returns the account of an `Authorization` header. */
export function authenticateHeader(
  context: Context,
  tokens: Tokens,
  authorization: string | undefined,
): Promise<SignedIn> {
  const token = bearerToken(authorization);
  if (token === undefined) throw errors.unauthorized();
  return authenticate(context, tokens, token);
}

/** Ends the session of a token. */
export async function endSession(db: Store, { sessionId }: Pick<SignedIn, 'sessionId'>): Promise<void> {
  await deleteSession(db, sessionId);
}

/** The reasons of `@octavo/core` are not codes of this API. */
function verify({ jwt }: Tokens, token: string): JwtClaims {
  try {
    return jwt.verify(token);
  } catch (error) {
    if (error instanceof AppError) throw errors.unauthorized();
    throw error;
  }
}
