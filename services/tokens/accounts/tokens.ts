import { hash } from 'node:crypto';
import type { Clock, Fields, Log } from '@octavo/core';
import { newId, newSecret, refuse } from '@octavo/core';
import type { JwtClaims } from '@octavo/core/jwt';
import { KeyRing } from '@octavo/core/jwt';
import { errors } from '../errors.ts';
import type { TokensConfig } from '../settings.ts';
import type { AccessClaims, Session } from './user.ts';

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export interface Secrets {
  readonly access: string;
  readonly refresh: string;
  readonly previousAccess: string | undefined;
  readonly previousRefresh: string | undefined;
}

export interface TokensOptions {
  readonly secrets: Secrets;
  readonly issuer: string;
  readonly audience: string;
  readonly accessSeconds: number;
  readonly refreshSeconds: number;
  readonly sessionSecondsMax: number;
  readonly clock: Clock;
}

export interface RefreshClaims extends AccessClaims {
  readonly generation: number;
  readonly tokenHash: string;
}

const verifiedTokensMax = 10_000;
const secretBytesMin = 32;

/** Signs and verifies both kinds of tokens. They differ in key, `typ` and `token_use`, so one is never accepted as the other. */
export class Tokens {
  readonly #options: TokensOptions;
  readonly #access: KeyRing;
  readonly #refresh: KeyRing;

  constructor(options: TokensOptions) {
    const { secrets } = options;
    this.#options = options;
    const { issuer, audience, clock } = options;
    this.#access = new KeyRing({
      secret: secrets.access,
      previousSecret: secrets.previousAccess,
      issuer,
      audience,
      clock,
      type: 'at+jwt',
      claims: { token_use: 'access' },
      cacheSize: verifiedTokensMax,
    });
    this.#refresh = new KeyRing({
      secret: secrets.refresh,
      previousSecret: secrets.previousRefresh,
      issuer,
      audience,
      clock,
      type: 'rt+jwt',
      claims: { token_use: 'refresh' },
      isExpiryLast: true,
    });
  }

  /** The next pair of a session. Its refresh token becomes the active one in the same turn of the event loop. */
  issue(session: Session): TokenPair {
    const { clock, accessSeconds, refreshSeconds, sessionSecondsMax } = this.#options;
    const nowMs = clock.now();
    const endMs = Math.min(nowMs + refreshSeconds * 1_000, session.createdMs + sessionSecondsMax * 1_000);
    const generation = session.generation + 1;
    const jti = `${generation}.${newId()}`;
    const subject = { sub: session.user.id, sid: session.id };
    const refreshLife = Math.max(1, Math.floor(endMs / 1_000) - Math.floor(nowMs / 1_000));
    const pair = {
      accessToken: this.#access.sign({ ...subject, jti: newId(), token_use: 'access' }, accessSeconds),
      refreshToken: this.#refresh.sign({ ...subject, jti, token_use: 'refresh' }, refreshLife),
    };
    session.rotatedMs = session.generation === 0 ? undefined : nowMs;
    session.generation = generation;
    session.tokenHash = hashOf(jti);
    session.expiresMs = endMs;
    session.lastUsedMs = nowMs;
    return pair;
  }

  /** Throws INVALID_TOKEN or TOKEN_EXPIRED. */
  readAccess(token: string): AccessClaims {
    return withSession(this.#access.verify(token));
  }

  /** Throws INVALID_TOKEN or TOKEN_EXPIRED. */
  readRefresh(token: string): RefreshClaims {
    const claims = withSession(this.#refresh.verify(token));
    const { jti } = claims;
    const generation = typeof jti === 'string' ? /^([1-9]\d{0,9})\./.exec(jti)?.[1] : undefined;
    if (generation === undefined) throw errors.invalidToken();
    return { ...claims, generation: Number(generation), tokenHash: hashOf(jti as string) };
  }
}

/**
 * The keys for signing. Outside production, missing keys are random: a restart loses all users anyway. In production the
 * result is undefined without them, and the service starts and reports it.
 */
export function chooseSecrets(
  config: TokensConfig,
  environment: 'development' | 'test' | 'production',
  log: Log,
): Secrets | undefined {
  const { JWT_ACCESS_SECRET: access, JWT_REFRESH_SECRET: refresh } = config;
  const given = Object.entries({ JWT_ACCESS_SECRET: access, JWT_REFRESH_SECRET: refresh });
  const missing = given.filter(([, secret]) => secret === undefined).map(([name]) => name);
  if (missing.length > 0 && environment === 'production') {
    log.fatal({ missing }, 'keys are missing: token routes answer 500 MISSING_SECRET until they are set');
    return undefined;
  }
  const short = Object.keys(shortSecrets(config));
  if (short.length > 0) log.warn({ short }, `keys ${tooShort} (RFC 7518 section 3.2)`);
  if (access !== undefined && access === refresh) log.warn('both kinds of tokens are signed with one key');
  return {
    access: access ?? newSecret(),
    refresh: refresh ?? newSecret(),
    previousAccess: config.JWT_ACCESS_SECRET_PREVIOUS,
    previousRefresh: config.JWT_REFRESH_SECRET_PREVIOUS,
  };
}

const tooShort = `must be at least ${secretBytesMin} bytes`;

/** Refuses short keys where that is wanted. */
export function checkSecrets(config: TokensConfig): void {
  if (config.STRICT_SECRETS) refuse(shortSecrets(config));
}

/** Previous keys count too: anyone who guesses one can sign tokens. */
function shortSecrets(config: TokensConfig): Fields {
  const given = [
    ['JWT_ACCESS_SECRET', config.JWT_ACCESS_SECRET],
    ['JWT_REFRESH_SECRET', config.JWT_REFRESH_SECRET],
    ['JWT_ACCESS_SECRET_PREVIOUS', config.JWT_ACCESS_SECRET_PREVIOUS],
    ['JWT_REFRESH_SECRET_PREVIOUS', config.JWT_REFRESH_SECRET_PREVIOUS],
  ] as const;
  const short = given.filter(
    ([, secret]) => secret !== undefined && Buffer.byteLength(secret) < secretBytesMin,
  );
  return Object.fromEntries(short.map(([name]) => [name, tooShort]));
}

function withSession(claims: JwtClaims): AccessClaims {
  if (typeof claims.sid !== 'string') throw errors.invalidToken();
  return claims as AccessClaims;
}

/** A `jti` has 122 random bits, so its hash needs no salt. */
function hashOf(jti: string): string {
  return hash('sha256', jti, 'base64url');
}
