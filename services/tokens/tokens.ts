import { hash } from 'node:crypto';
import type { JwtClaims } from '#kit/auth/jwt.ts';
import { KeyRing } from '#kit/auth/key-ring.ts';
import type { Clock } from '#kit/clock.ts';
import { newId } from '#kit/ids.ts';
import { refusals } from './refusals.ts';
import type { Session } from './sessions.ts';

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

export interface AccessClaims extends JwtClaims {
  readonly sid: string;
}

export interface RefreshClaims extends AccessClaims {
  readonly generation: number;
  readonly tokenHash: string;
}

const verifiedTokensMax = 10_000;

/** Makes and reads both kinds of tokens. A kind is told by its key, its `typ` and its `token_use`: neither passes for the other. */
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

  /** The next pair of a session. From then on its refresh token is the active one, in the same turn of the event loop. */
  issue(session: Session): TokenPair {
    const { clock, accessSeconds, refreshSeconds, sessionSecondsMax } = this.#options;
    const nowMs = clock.now();
    const endMs = Math.min(nowMs + refreshSeconds * 1_000, session.createdMs + sessionSecondsMax * 1_000);
    const generation = session.generation + 1;
    const jti = `${generation}.${newId()}`;
    const whose = { sub: session.user.id, sid: session.id };
    const refreshLife = Math.max(1, Math.floor(endMs / 1_000) - Math.floor(nowMs / 1_000));
    const pair = {
      accessToken: this.#access.sign({ ...whose, jti: newId(), token_use: 'access' }, accessSeconds),
      refreshToken: this.#refresh.sign({ ...whose, jti, token_use: 'refresh' }, refreshLife),
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
    if (generation === undefined) throw refusals.invalidToken();
    return { ...claims, generation: Number(generation), tokenHash: hashOf(jti as string) };
  }
}

function withSession(claims: JwtClaims): AccessClaims {
  if (typeof claims.sid !== 'string') throw refusals.invalidToken();
  return claims as AccessClaims;
}

/** A `jti` holds 122 random bits, so that its hash needs no salt. */
function hashOf(jti: string): string {
  return hash('sha256', jti, 'base64url');
}
