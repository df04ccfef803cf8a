import { AppError } from '@octavo/core';
import type { JWTPayload } from 'jose';
import { clockToleranceSeconds, type Provider } from './provider.ts';
import { inOneScript, isIdentifier, namesIn, type ProviderSettings, rolesIn } from './settings.ts';

/** Holder of an access token. */
export interface TokenHolder {
  readonly subject: string;
  readonly roles: readonly string[];
  readonly name: string;
  readonly email: string | undefined;
  /** Methods of authentication (RFC 8176); empty if the token names none. */
  readonly amr: readonly string[];
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

/** The sessions that a logout token ends: one by its id, or all of a subject. */
export interface EndedSessions {
  readonly subject: string | undefined;
  readonly sid: string | undefined;
}

/** A logout token, whose id tells whether it was used before. */
export interface LogoutToken extends EndedSessions {
  readonly id: string;
}

type KeySet = ReturnType<typeof import('jose').createRemoteJWKSet>;

const timeoutDuration = 5_000;
/** Keys are read again for an unknown one, but not within a minute. */
const cooldownDuration = 60_000;
const cacheMaxAge = 10 * 60_000;
const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout';
/** Largest age of a logout token; even if clocks differ, below the 10 minutes for which used ones are remembered. */
const logoutAgeMax = '7m';
/** Algorithms with a public key. */
const knownAlgorithms = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'EdDSA', 'Ed25519'];

/** Verifies tokens that a provider signed, by its published keys. */
export class ProviderTokens {
  readonly #provider: Provider;
  #keys: { readonly address: string; readonly keySet: KeySet } | undefined;

  constructor(provider: Provider) {
    this.#provider = provider;
  }

  /** True if a bearer token says that the provider issued it. Nothing is verified. */
  isOurs(token: string): boolean {
    const [, payload = '', , ...rest] = token.split('.');
    if (rest.length > 0 || payload === '') return false;
    try {
      const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
      return (claims as JWTPayload | null)?.iss === this.#provider.settings.issuer;
    } catch {
      return false;
    }
  }

  /** The holder of an access token for an audience (RFC 9068 section 4). Throws `unauthenticated`, and `unavailable` without the keys. */
  async holderOf(token: string, audience: string | undefined): Promise<TokenHolder> {
    if (audience === undefined) throw refused(new Error('this service has no address of its own'));
    const claims = await this.#verify(token, {
      audience,
      typ: 'at+jwt',
      requiredClaims: ['exp', 'sub', 'iat', 'jti', 'client_id'],
    });
    if (!isIdentifier(claims.sub)) throw refused(new Error('sub is no identifier'));
    // Bound to a key of the client (RFC 9449, RFC 8705), which a bearer token is not.
    if (claims.cnf !== undefined) throw refused(new Error('the token is bound to a key'));
    const email = claims.email_verified === true ? claims.email : undefined;
    return {
      subject: claims.sub,
      roles: rolesOf(claims, this.#provider.settings),
      name: inOneScript(String(claims.preferred_username ?? claims.name ?? 'user').slice(0, 320)),
      email: typeof email === 'string' ? email : undefined,
      amr: namesIn(claims.amr).filter(isIdentifier),
      issuedAtMs: (claims.iat ?? 0) * 1_000,
      expiresAtMs: (claims.exp ?? 0) * 1_000,
    };
  }

  /** The sessions that a logout token ends (OpenID Connect Back-Channel Logout 1.0 section 2.6). Throws like {@link holderOf}. */
  async endedBy(token: string): Promise<LogoutToken> {
    const claims = await this.#verify(token, {
      audience: this.#provider.settings.clientId,
      requiredClaims: ['iat', 'jti', 'events'],
      maxTokenAge: logoutAgeMax,
    });
    const { events, nonce, sub, sid } = claims as JWTPayload & {
      events: unknown;
      nonce?: unknown;
      sid?: unknown;
    };
    const isLogout = typeof events === 'object' && events !== null && Object.hasOwn(events, logoutEvent);
    // An ID token has a nonce, so that it is never taken for one of these.
    if (!isLogout || nonce !== undefined) throw refused(new Error('this is no logout token'));
    if (sub === undefined && sid === undefined) throw refused(new Error('it names no person or session'));
    const subject = identifierOf(sub);
    const session = identifierOf(sid);
    return { id: claims.jti ?? '', subject, sid: session };
  }

  /** Reads the description and the keys, within one bound for both. */
  #verify(
    token: string,
    expected: { audience: string; typ?: string; requiredClaims: string[]; maxTokenAge?: string },
  ): Promise<JWTPayload> {
    return this.#provider.within(async () => {
      const { errors, jwtVerify } = await import('jose');
      const metadata = await this.#provider.metadata();
      const keySet = await this.#keySet(metadata.jwks_uri);
      const declared = metadata.id_token_signing_alg_values_supported ?? ['RS256'];
      try {
        const { payload, protectedHeader } = await jwtVerify(token, keySet, {
          ...expected,
          issuer: this.#provider.settings.issuer,
          algorithms: knownAlgorithms.filter((name) => declared.includes(name)),
          clockTolerance: clockToleranceSeconds,
        });
        const isOther =
          expected.typ === undefined && !/^(logout\+jwt|jwt)?$/i.test(protectedHeader.typ ?? '');
        if (isOther) throw new Error(`the token is of type ${protectedHeader.typ}`);
        return payload;
      } catch (error) {
        const isSilent = error instanceof errors.JWKSTimeout || !isVerdict(error, errors.JOSEError);
        throw isSilent ? keysAway(error) : refused(error);
      }
    });
  }

  async #keySet(address: string | undefined): Promise<KeySet> {
    if (address === undefined) throw refused(new Error('the provider has no keys'));
    if (this.#keys?.address === address) return this.#keys.keySet;
    const { createRemoteJWKSet, customFetch } = await import('jose');
    const keySet = createRemoteJWKSet(new URL(address), {
      timeoutDuration,
      cooldownDuration,
      cacheMaxAge,
      [customFetch]: this.#provider.fetch,
    });
    this.#keys = { address, keySet };
    return keySet;
  }
}

function rolesOf(claims: JWTPayload, settings: ProviderSettings): string[] {
  try {
    return rolesIn(claims, settings);
  } catch (error) {
    throw refused(error);
  }
}

function identifierOf(claim: unknown): string | undefined {
  if (claim !== undefined && !isIdentifier(claim)) throw refused(new Error('it names no identifier'));
  return claim;
}

function keysAway(cause: unknown): AppError {
  return new AppError(
    'unavailable',
    'The keys of the OpenID provider cannot be read. Try again in a moment.',
    { retryAfterSeconds: 10, cause },
  );
}

/** True for an error about the token; false for one of the connection. */
function isVerdict(error: unknown, joseError: abstract new (...args: never[]) => Error): boolean {
  if (error instanceof TypeError) return false;
  const isAnswer = error instanceof joseError && 'code' in error && error.code === 'ERR_JOSE_GENERIC';
  return !isAnswer;
}

function refused(cause: unknown): AppError {
  return new AppError('unauthenticated', 'The token is not valid, or has expired.', { cause });
}
