import { hash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import { bearerToken } from '@octavo/core/auth';
import { createJwt, type Jwt, type JwtClaims } from '@octavo/core/jwt';

export const tokenSeconds = 3_600;
export const scope = 'domain:read';
const anybody = 'public';
const tokensCached = 10_000;
const secretBytesMin = 8;

/** Clients that may request tokens: secrets by the id of the client. */
export type Clients = ReadonlyMap<string, string>;

/** Reads `id:secret, id:secret`, also with blanks around each part. Throws an `Error` that starts with "must". */
export function parseClients(text: string): Clients {
  const clients = new Map<string, string>();
  for (const pair of text.split(',').filter((each) => each.trim() !== '')) {
    const [, id = '', secret = ''] = /^([^:]+):(.+)$/s.exec(pair)?.map((part) => part.trim()) ?? [];
    if (id === '' || secret === '') throw new Error('must be id:secret of each client, with commas between');
    if (/\s/.test(id + secret)) throw new Error('must have no blank inside an id or a secret');
    if (Buffer.byteLength(secret) < secretBytesMin)
      throw new Error(`must have secrets of at least ${secretBytesMin} bytes`);
    if (clients.has(id)) throw new Error('must have ids that differ');
    clients.set(id, secret);
  }
  if (clients.size === 0) throw new Error('must be id:secret of each client, with commas between');
  return clients;
}

/** Issues and checks the tokens of the API. Without clients anybody gets one. */
export class Tokens {
  readonly #jwt: Jwt;
  readonly #clock: Clock;
  readonly #clients: Clients | undefined;

  constructor({ secret, clock, clients }: { secret: string; clock: Clock; clients: Clients | undefined }) {
    this.#jwt = createJwt({
      secret,
      clock,
      issuer: 'portfolio',
      audience: 'domain-api',
      cacheSize: tokensCached,
    });
    this.#clock = clock;
    this.#clients = clients;
  }

  /** A token for a client that proves itself by `Authorization: Basic` or `X-API-Key`. */
  issue(authorization: string | undefined, apiKey: string | undefined) {
    return this.issueTo(this.#clients ? clientOf(this.#clients, authorization, apiKey) : anybody);
  }

  /** A token for a subject that is known; that of a user counts as long as the user may sign in. */
  issueTo(sub: string, userId?: number) {
    const issuedAt = Math.floor(this.#clock.now() / 1_000);
    const user = userId === undefined ? {} : { user_id: userId };
    const token = this.#jwt.sign({ sub, nbf: issuedAt, scope, ...user }, tokenSeconds);
    return {
      token,
      access_token: token,
      token_type: 'Bearer' as const,
      expires_in: tokenSeconds,
      expires_at: new Date((issuedAt + tokenSeconds) * 1_000).toISOString(),
    };
  }

  /** The id of a token's user, if it is one. Throws `unauthenticated` without a valid token, and `forbidden` for one of another scope. */
  check(authorization: string | undefined): number | undefined {
    const given = bearerToken(authorization);
    if (given === undefined)
      throw new AppError('unauthenticated', 'A bearer token is required. GET /auth/token gives one.');
    const claims = this.#verified(given);
    const scopes = String(claims.scope ?? '').split(' ');
    if (!scopes.includes(scope)) throw new AppError('forbidden', `The token lacks the scope ${scope}.`);
    return claims.user_id === undefined ? undefined : Number(claims.user_id);
  }

  #verified(token: string): JwtClaims {
    try {
      return this.#jwt.verify(token);
    } catch (cause) {
      throw new AppError('unauthenticated', 'The token is not valid, or has expired.', { cause });
    }
  }
}

function clientOf(clients: Clients, authorization = '', apiKey = ''): string {
  const basic = /^basic +([\w+/=-]+)$/i.exec(authorization)?.[1] ?? '';
  const [id = '', ...secret] = Buffer.from(basic, 'base64').toString().split(':');
  const found = [...clients].filter(([name, expected]) =>
    [
      isSame(expected, apiKey),
      isSame(`${name}:${expected}`, apiKey),
      name === id && isSame(expected, secret.join(':')),
    ].includes(true),
  );
  const [client] = found;
  if (!client)
    throw new AppError('unauthenticated', 'A client id and its secret are required, by Basic or X-API-Key.');
  return client[0];
}

/** Compares in constant time. */
function isSame(one: string, other: string): boolean {
  return timingSafeEqual(hash('sha256', one, 'buffer'), hash('sha256', other, 'buffer'));
}
