import { KeyRing } from '#kit/auth/key-ring.ts';
import type { Clock } from '#kit/clock.ts';
import { authErrors } from '../errors.ts';
import type { Keys } from '../keys.ts';
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

/** Makes and reads the tokens that other services believe. */
export class AccessTokens {
  readonly #options: AccessTokensOptions;
  #made: KeyRing | undefined;

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
      // A label that anybody may have given is nobody's address.
      ...(user.isVerified ? { email: user.email } : {}),
    };
    return this.#ring.sign(claims, this.#options.config.PASSWORDLESS_ACCESS_TOKEN_EXPIRY_SECONDS);
  }

  /** Whose it is and from which session. Throws INVALID_TOKEN or TOKEN_EXPIRED. */
  read(token: string): { sub: string; sid: string } {
    const { sub, sid } = this.#ring.verify(token);
    if (typeof sid !== 'string') throw authErrors.invalidToken();
    return { sub, sid };
  }

  /** Made at the first token: unless it is set, the issuer is known once the service listens. */
  get #ring(): KeyRing {
    this.#made ??= createRing(this.#options);
    return this.#made;
  }
}

function createRing({ config, site, keys, clock }: AccessTokensOptions): KeyRing {
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
