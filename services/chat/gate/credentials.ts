import { hash } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { AppError, boundedFetch } from '@octavo/core';
import type { JWTPayload, JWTVerifyOptions, JWTVerifyResult } from 'jose';
import type { Identity } from '../owner.ts';

export const authModes = ['none', 'api_key', 'jwt'] as const;
export type AuthMode = (typeof authModes)[number];

export interface SignInOptions {
  readonly mode: AuthMode;
  /** Separated by commas; as they are, or as `sha256:` and their hash in hex. */
  readonly apiKeys: string | undefined;
  readonly jwtSecret: string | undefined;
  readonly jwksUrl: string | undefined;
  /** Separated by commas. */
  readonly algorithms: string | undefined;
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  readonly clock: Clock;
}

/** Credentials in a request. */
export interface Credentials {
  readonly bearer: string | undefined;
  readonly apiKey: string | undefined;
}

/** Finds whose credentials these are. Throws `unauthenticated`. */
export type SignIn = (credentials: Credentials) => Promise<Identity>;

const leewaySeconds = 5;
const jwksTimeoutMs = 5_000;
const jwksBytesMax = 1024 * 1024;

/** The check of credentials; undefined where there is no sign-in. */
export function createSignIn(options: SignInOptions): SignIn | undefined {
  if (options.mode === 'api_key') return byKey(options);
  return options.mode === 'jwt' ? byToken(options) : undefined;
}

/** Keys are kept and looked up by their hashes, so the time tells nothing of them. */
function byKey({ apiKeys = '' }: SignInOptions): SignIn {
  const hashes = new Set(
    apiKeys
      .split(',')
      .map((key) => key.trim())
      .filter((key) => key !== '')
      .map((key) => (key.startsWith('sha256:') ? key.slice(7).toLowerCase() : hash('sha256', key))),
  );
  return async ({ bearer, apiKey }) => {
    const given = apiKey ?? bearer;
    if (given === undefined) throw unauthenticated('An API key is required.');
    const hashed = hash('sha256', given);
    if (!hashes.has(hashed)) throw unauthenticated('The API key is not valid.');
    return { owner: `key:${hashed.slice(0, 32)}`, isAdmin: false };
  };
}

function byToken({ jwtSecret, jwksUrl, algorithms, issuer, audience, clock }: SignInOptions): SignIn {
  const named = algorithms?.split(',').map((name) => name.trim());
  const expected: JWTVerifyOptions = {
    algorithms: named ?? (jwksUrl === undefined ? ['HS256'] : ['RS256', 'ES256', 'EdDSA']),
    requiredClaims: ['sub', 'exp'],
    clockTolerance: leewaySeconds,
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  };
  const secret = new TextEncoder().encode(jwtSecret ?? '');
  let verifying: ReturnType<typeof createVerify> | undefined;
  return async ({ bearer }) => {
    if (bearer === undefined) throw unauthenticated('A bearer token is required.');
    const options = { ...expected, currentDate: new Date(clock.now()) };
    try {
      verifying ??= createVerify(jwksUrl, secret);
      const { payload } = await (await verifying)(bearer, options);
      if (typeof payload.sub !== 'string' || payload.sub === '') throw new Error('sub is empty');
      return { owner: `sub:${payload.sub.slice(0, 200)}`, isAdmin: rolesOf(payload).includes('admin') };
    } catch (cause) {
      throw unauthenticated('The token is not valid, or has expired.', cause);
    }
  };
}

/** Roles of a token: `roles` is a list or has spaces between, and `role` is one. */
function rolesOf({ roles, role }: JWTPayload): unknown[] {
  return [typeof roles === 'string' ? roles.split(' ') : (roles ?? []), role].flat();
}

/** Verifies tokens by a secret, or by the published keys at an address. The library is loaded with the first token. */
async function createVerify(
  jwksUrl: string | undefined,
  secret: Uint8Array,
): Promise<(token: string, options: JWTVerifyOptions) => Promise<JWTVerifyResult>> {
  const { createRemoteJWKSet, customFetch, jwtVerify } = await import('jose');
  if (jwksUrl === undefined) return (token, options) => jwtVerify(token, secret, options);
  const keySet = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: jwksTimeoutMs,
    [customFetch]: boundedFetch(jwksBytesMax),
  });
  return (token, options) => jwtVerify(token, keySet, options);
}

function unauthenticated(message: string, cause?: unknown): AppError {
  return new AppError('unauthenticated', message, { cause });
}
