import { createHmac, createSecretKey } from 'node:crypto';
import { createVerifier } from 'fast-jwt';
import { measureCache } from '../../base/caches.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { newId } from '../../base/ids.ts';

/** The claims of a verified token: the registered ones that all our tokens have, and those of the service. */
export interface JwtClaims {
  readonly iss: string;
  readonly aud: string | readonly string[];
  readonly sub: string;
  /** Seconds since the Unix epoch, as are `exp` and `nbf`. */
  readonly iat: number;
  readonly exp: number;
  readonly [claim: string]: unknown;
}

export interface JwtOptions {
  /** The HMAC key, as bytes or as UTF-8 text. RFC 7518 section 3.2 requires at least 32 bytes. */
  readonly secret: string | Buffer;
  readonly issuer: string;
  readonly audience: string;
  readonly clock: Clock;
  /** The header's `typ`, such as `at+jwt`. If given, verification requires it. By default it is `JWT` and not checked. */
  readonly type?: string;
  /** Claims that verification requires, with their values. */
  readonly claims?: Readonly<Record<string, string>>;
  /** Checks the expiry last, so that an expired token for another use is INVALID_TOKEN. By default the expiry comes first. */
  readonly isExpiryLast?: boolean;
  /** Tolerated clock difference between signer and verifier; 5 by default. */
  readonly leewaySeconds?: number;
  /** Longest time that `iat` may be in the future; `leewaySeconds` by default. */
  readonly issuedAheadSeconds?: number;
  /** The header's `kid`, by which a verifier with several keys chooses one; see {@link readKeyId}. */
  readonly keyId?: string;
  /** Verified tokens to cache until they expire; 0 by default. */
  readonly cacheSize?: number;
}

/** Signs and verifies compact JWTs (RFC 7519) with HS256 only. */
export interface Jwt {
  /**
   * A token over the given claims and `iss`, `aud`, `iat`, `exp`, `jti` (random unless given). The same claims with the same `jti`,
   * issued at the same time (by default now), make the same token.
   */
  sign(
    claims: { readonly sub: string; readonly [claim: string]: unknown },
    lifetimeSeconds: number,
    issuedAtMs?: number,
  ): string;
  /**
   * The claims of a valid token. Throws `unauthenticated` with reason `TOKEN_EXPIRED` if it is only expired, else with
   * `INVALID_TOKEN`.
   */
  verify(token: string): JwtClaims;
}

/** Makes a {@link Jwt}. Per RFC 8725, algorithm, issuer, audience and type are fixed, and `crit` is rejected. */
export function createJwt(options: JwtOptions): Jwt {
  const { issuer, audience, clock, cacheSize = 0 } = options;
  const sign = createSigner(options);
  const check = createCheck(options);
  const cached = new Map<string, JwtClaims>();
  if (cacheSize > 0) measureCache('verified tokens', cached, bytesOfTokens);
  return {
    sign(claims, lifetimeSeconds, issuedAtMs = clock.now()) {
      const iat = Math.floor(issuedAtMs / 1_000);
      const exp = iat + lifetimeSeconds;
      return sign({ jti: newId(), ...claims, iss: issuer, aud: audience, iat, exp });
    },
    verify(token) {
      const known = cached.get(token);
      if (known && known.exp * 1_000 > clock.now()) return known;
      const claims = check(token);
      if (cacheSize > 0) cache(cached, token, claims, cacheSize);
      return claims;
    },
  };
}

/** The text of a token and its claims, which are about as long, and some hundred bytes beside them. */
function bytesOfTokens(cached: ReadonlyMap<string, JwtClaims>): number {
  let bytes = 0;
  for (const token of cached.keys()) bytes += 2 * token.length + 200;
  return bytes;
}

/** The claims of a verified token of {@link createPlainJwt}. */
export interface PlainClaims {
  /** Seconds since the Unix epoch, as is `exp`. */
  readonly iat: number;
  readonly exp: number;
  readonly [claim: string]: unknown;
}

/**
 * Signs and verifies compact JWTs with HS256 whose only registered claims are `iat`, `exp` and `jti`, for an API whose clients
 * expect just these. Such a secret must sign nothing else. Throws as {@link Jwt.verify}; there is no leeway.
 */
export function createPlainJwt({ secret, clock }: Pick<JwtOptions, 'secret' | 'clock'>): {
  sign(claims: Readonly<Record<string, unknown>>, lifetimeSeconds: number): string;
  verify(token: string): PlainClaims;
} {
  const sign = createSigner({ secret });
  const decode = createDecoder(secret);
  return {
    sign(claims, lifetimeSeconds) {
      const iat = Math.floor(clock.now() / 1_000);
      return sign({ ...claims, iat, exp: iat + lifetimeSeconds });
    },
    verify(token) {
      const { header, payload } = decode(token);
      const nowSeconds = clock.now() / 1_000;
      const { exp, iat } = payload;
      if (!isSeconds(exp) || !isSeconds(iat) || 'crit' in header) throw invalid();
      if (nowSeconds >= exp) throw expired();
      if (iat > nowSeconds + 60) throw invalid();
      return payload as PlainClaims;
    },
  };
}

/** The `kid` in the header of an unverified token; undefined if there is none, or it is not text. */
export function readKeyId(token: string): string | undefined {
  try {
    const header = JSON.parse(Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString());
    return typeof header?.kid === 'string' ? header.kid : undefined;
  } catch {
    return undefined;
  }
}

/** RFC 7515 section 7.1. The header never changes, so each token costs one HMAC with a prepared key. */
function createSigner({
  secret,
  type: typ = 'JWT',
  keyId: kid,
}: Pick<JwtOptions, 'secret' | 'type' | 'keyId'>): (claims: object) => string {
  const key = typeof secret === 'string' ? createSecretKey(secret, 'utf8') : createSecretKey(secret);
  const header = encode({ alg: 'HS256', typ, kid });
  return (claims) => {
    const input = `${header}.${encode(claims)}`;
    return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`;
  };
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** `fast-jwt` checks the signature and parses the JSON. Everything else is checked here, in this order: expiry, then the rest. */
function createCheck(options: JwtOptions): (token: string) => JwtClaims {
  const { secret: key, issuer, audience, clock, type, leewaySeconds = 5, isExpiryLast = false } = options;
  const requiredClaims = Object.entries(options.claims ?? {});
  const { issuedAheadSeconds = leewaySeconds } = options;
  const decode = createDecoder(key);
  return (token) => {
    const { header, payload } = decode(token);
    const nowSeconds = clock.now() / 1_000;
    const { exp, iat, nbf, iss, aud, sub } = payload;
    if (!isSeconds(exp)) throw invalid();
    const isExpired = nowSeconds >= exp + leewaySeconds;
    if (isExpired && !isExpiryLast) throw expired();
    if (!isSeconds(iat) || iat > nowSeconds + issuedAheadSeconds) throw invalid();
    if (nbf !== undefined && (!isSeconds(nbf) || nbf > nowSeconds + leewaySeconds)) throw invalid();
    if (iss !== issuer || !isFor(audience, aud) || typeof sub !== 'string') throw invalid();
    if ('crit' in header || (type !== undefined && !isType(type, header.typ))) throw invalid();
    if (requiredClaims.some(([name, value]) => payload[name] !== value)) throw invalid();
    if (isExpired) throw expired();
    return payload as JwtClaims;
  };
}

interface Decoded {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
}

// 32 bytes are 43 characters, and the last has two spare bits. They must be zero, or a token would have several spellings.
const canonicalSignature = /\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** The parts of a token that was signed with this key. */
function createDecoder(key: string | Buffer): (token: string) => Decoded {
  const decode = createVerifier({
    key,
    algorithms: ['HS256'],
    complete: true,
    ignoreExpiration: true,
    ignoreNotBefore: true,
  }) as (token: string) => Decoded;
  return (token) => {
    if (!canonicalSignature.test(token)) throw invalid();
    try {
      return decode(token);
    } catch (error) {
      throw invalid(error);
    }
  };
}

function isSeconds(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isFor(audience: string, claim: unknown): boolean {
  return claim === audience || (Array.isArray(claim) && claim.includes(audience));
}

function isType(type: string, claim: unknown): boolean {
  return typeof claim === 'string' && claim.toLowerCase().replace(/^application\//, '') === type;
}

function cache(tokens: Map<string, JwtClaims>, token: string, claims: JwtClaims, size: number): void {
  if (tokens.size >= size) tokens.delete(tokens.keys().next().value as string);
  tokens.set(token, claims);
}

function invalid(cause?: unknown): AppError {
  return new AppError('unauthenticated', 'The token is not valid.', { reason: 'INVALID_TOKEN', cause });
}

function expired(): AppError {
  return new AppError('unauthenticated', 'The token has expired.', { reason: 'TOKEN_EXPIRED' });
}
