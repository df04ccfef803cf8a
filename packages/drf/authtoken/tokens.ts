import { createHash, hkdfSync } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { randomBytes } from '@octavo/core';
import { createJwt, type Jwt } from '@octavo/core/jwt';
import type { Database, PackageMigrations, Session } from '@octavo/data';
import type { Accounts, AccountTables, User } from '@octavo/people/accounts';
import type { OidcSignIn } from '@octavo/people/sign-in';
import type { Generated } from 'kysely';

/** The table of tokens, for `migrations` of a service: `[accountMigrations, tokenMigrations, new URL('./migrations/', import.meta.url)]`. */
export const tokenMigrations: PackageMigrations = {
  folder: new URL('./migrations/', import.meta.url),
  prefix: 'tokens',
  versionsFrom: 30_000,
};

export interface TokenTables extends AccountTables {
  auth_token: {
    id: Generated<number>;
    user_id: number;
    hash: string;
    hint: string;
    created_at_ms: number;
    last_used_at_ms: number;
  };
}

export interface TokensOptions {
  readonly database: Database<TokenTables>;
  readonly accounts: Accounts;
  readonly clock: Clock;
  /** Takes tokens of the pages, too. */
  readonly pageTokens?: PageTokens;
  /** Takes access tokens of an OpenID provider, too, by `Authorization: Bearer`. */
  readonly oidc?: Pick<OidcSignIn<never>, 'holderOf'> | undefined;
}

/** Most tokens of a user. A further one replaces the one that was unused for longest. */
const tokensMax = 20;
const pageTokenSeconds = 600;
const hintLength = 6;
/** Interval at which use of a token is written, because each write costs reads on PostgreSQL twice their own time. */
const touchEveryMs = 60_000;

function touchToken({ kysely }: Session<TokenTables>, hash: string, nowMs: number) {
  return kysely
    .updateTable('auth_token')
    .set({ last_used_at_ms: nowMs })
    .where('hash', '=', hash)
    .where('last_used_at_ms', '<', nowMs)
    .executeTakeFirst();
}

/**
 * Tokens with which a signed-in user of the pages tries the API at `/docs`, for ten minutes. They are signed and not stored, so
 * that they take no place among the tokens of the user.
 */
export class PageTokens {
  readonly #jwt: Jwt;

  /** @param secret at least 32 bytes */
  constructor({ secret, clock }: { secret: string; clock: Clock }) {
    const key = Buffer.from(hkdfSync('sha256', secret, '', 'page tokens', 32));
    this.#jwt = createJwt({ secret: key, clock, issuer: 'pages', audience: 'api' });
  }

  issue(user: Pick<User, 'id'>): string {
    return this.#jwt.sign({ sub: String(user.id) }, pageTokenSeconds);
  }

  /** The id of the user; undefined for another token, or an expired one. */
  userIdOf(token: string): number | undefined {
    try {
      return Number(this.#jwt.verify(token).sub);
    } catch {
      return undefined;
    }
  }
}

/** A new token of a user, 40 hexadecimal digits. It is valid until it is revoked; only its hash is stored. */
export async function issueToken({ database, clock }: TokensOptions, user: User): Promise<string> {
  const token = randomBytes(20).toString('hex');
  const nowMs = clock.now();
  const row = {
    user_id: user.id,
    hash: hashOf(token),
    hint: token.slice(0, hintLength),
    created_at_ms: nowMs,
    last_used_at_ms: nowMs,
  };
  await database.write(async (session) => {
    await session.lock(`auth_token ${user.id}`);
    await session.kysely.insertInto('auth_token').values(row).execute();
    await session.kysely
      .deleteFrom('auth_token')
      .where('user_id', '=', user.id)
      .where('id', 'not in', (eb) =>
        eb
          .selectFrom('auth_token as newer')
          .select('newer.id')
          .where('newer.user_id', '=', user.id)
          .orderBy('newer.last_used_at_ms', 'desc')
          .orderBy('newer.id', 'desc')
          .limit(tokensMax),
      )
      .execute();
  });
  return token;
}

/** Returns the owner of a token; undefined if it is unknown or was revoked. */
export async function userOfToken(
  { database, accounts, clock, pageTokens }: TokensOptions,
  token: string,
): Promise<User | undefined> {
  if (token.includes('.')) {
    const id = pageTokens?.userIdOf(token);
    return id === undefined ? undefined : accounts.byId(id);
  }
  const hash = hashOf(token);
  const row = await database.kysely
    .selectFrom('auth_token')
    .select(['user_id', 'last_used_at_ms'])
    .where('hash', '=', hash)
    .executeTakeFirst();
  if (!row) return undefined;
  const nowMs = clock.now();
  if (row.last_used_at_ms <= nowMs - touchEveryMs)
    await database.write((session) => touchToken(session, hash, nowMs), { mayBeLost: true });
  return accounts.byId(row.user_id);
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
