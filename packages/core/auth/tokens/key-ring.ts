import { hash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { createJwt, type Jwt, type JwtClaims, type JwtOptions, readKeyId } from './jwt.ts';

export interface KeyRingOptions extends Pick<JwtOptions, 'claims' | 'isExpiryLast'> {
  /** The key for signing; see `JwtOptions.secret`. */
  readonly secret: string | Buffer;
  /** The previous key, whose tokens are still valid. */
  readonly previousSecret?: string | Buffer | undefined;
  readonly issuer: string;
  readonly audience: string;
  readonly clock: Clock;
  /** The header's `typ`, such as `at+jwt`, which verification requires. */
  readonly type: string;
  /** Verified tokens to cache until they expire; 0 by default. */
  readonly cacheSize?: number;
}

/**
 * Signs tokens with the current key, and verifies them with the current or the previous one. The `kid` in a token names its key: the
 * first 8 hex digits of the key's SHA-256. One process signs and verifies, so `exp` has no leeway; `iat` may be 60 s ahead.
 */
export class KeyRing implements Jwt {
  readonly #current: Jwt;
  readonly #previous: { readonly keyId: string; readonly jwt: Jwt } | undefined;

  constructor({ secret, previousSecret, ...options }: KeyRingOptions) {
    this.#current = jwtOf(secret, options);
    this.#previous =
      previousSecret === undefined
        ? undefined
        : { keyId: keyIdOf(previousSecret), jwt: jwtOf(previousSecret, options) };
  }

  sign: Jwt['sign'] = (claims, lifetimeSeconds) => this.#current.sign(claims, lifetimeSeconds);

  verify(token: string): JwtClaims {
    const isPrevious = this.#previous !== undefined && readKeyId(token) === this.#previous.keyId;
    return (isPrevious && this.#previous ? this.#previous.jwt : this.#current).verify(token);
  }
}

function jwtOf(secret: string | Buffer, options: Omit<KeyRingOptions, 'secret' | 'previousSecret'>): Jwt {
  const keyId = keyIdOf(secret);
  return createJwt({ ...options, secret, keyId, leewaySeconds: 0, issuedAheadSeconds: 60 });
}

function keyIdOf(secret: string | Buffer): string {
  return hash('sha256', secret, 'hex').slice(0, 8);
}
