import type { Clock } from '@octavo/core';
import { KeyRing } from '@octavo/core/jwt';
import { authErrors } from '../errors.ts';
import type { Keys } from '../keys/keys.ts';
import type { PasswordlessConfig } from '../settings.ts';
import type { Site } from '../site.ts';
import type { User } from '../users/index.ts';
import type { Session } from './session.ts';

interface AccessTokensOptions {
  readonly config: PasswordlessConfig;
  readonly site: Site;
  readonly keys: Keys;
  readonly clock: Clock;
}

const verifiedTokensMax = 10_000;

/** Signs and verifies the tokens that other services trust. */
export class AccessTokens {
  readonly #options: AccessTokensOptions;
  #keyRing: KeyRing | undefined;

  constructor(options: AccessTokensOptions) {
    this.#options = options;
  }

  sign(user: User, session: Pick<Session, 'id' | 'amr' | 'authenticatedMs'>): string {
    const claims = {
      sub: user.id,
      sid: session.id,
      auth_time: Math.floor(session.authenticatedMs / 1_000),
      amr: session.amr,
      email_verified: user.isVerified,
      // Otherwise anybody could have chosen the address.
      ...(user.isVerified ? { email: user.email } : {}),
    };
    return this.#keys.sign(claims, this.#options.config.PASSWORDLESS_ACCESS_TOKEN_EXPIRY_SECONDS);
  }

  /** The user and session ids of a token. Throws INVALID_TOKEN or TOKEN_EXPIRED. */
  verify(token: string): { sub: string; sid: string } {
    const { sub, sid } = this.#keys.verify(token);
    if (typeof sid !== 'string') throw authErrors.invalidToken();
    return { sub, sid };
  }

  /** Created for the first token: without a setting, the issuer is known only once the service listens. */
  get #keys(): KeyRing {
    this.#keyRing ??= createKeyRing(this.#options);
    return this.#keyRing;
  }
}

function createKeyRing({ config, site, keys, clock }: AccessTokensOptions): KeyRing {
  const issuer = config.PASSWORDLESS_ISSUER ?? site.origin;
  return new KeyRing({
    secret: keys.current('jwt'),
    previousSecret: keys.previous('jwt'),
    issuer,
    audience: config.PASSWORDLESS_AUDIENCE ?? issuer,
    clock,
    type: 'at+jwt',
    cacheSize: verifiedTokensMax,
  });
}
