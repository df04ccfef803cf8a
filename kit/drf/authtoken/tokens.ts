import { createHash } from 'node:crypto';
import type { Generated } from 'kysely';
import type { Accounts, AccountTables, User } from '../../accounts/index.ts';
import type { Clock } from '../../clock.ts';
import { type Database, type KitMigrations, statement } from '../../db/index.ts';
import { randomBytes } from '../../random.ts';

/** The table of tokens, for `migrations` of a service: `[accountMigrations, tokenMigrations, new URL('./migrations/', import.meta.url)]`. */
export const tokenMigrations: KitMigrations = {
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
}

/** A user has at most so many. A further one replaces the one that was unused for longest. */
const tokensMax = 20;
const hintLength = 6;

type NewToken = Omit<TokenTables['auth_token'], 'id' | 'last_used_at_ms'>;

const insertToken = statement<TokenTables, NewToken>()((db, p) =>
  db.insertInto('auth_token').values({
    user_id: p('user_id'),
    hash: p('hash'),
    hint: p('hint'),
    created_at_ms: p('created_at_ms'),
    last_used_at_ms: p('created_at_ms'),
  }),
);

const dropUnused = statement<TokenTables, { userId: number; kept: number }>()((db, p) =>
  db
    .deleteFrom('auth_token')
    .where('user_id', '=', p('userId'))
    .where('id', 'not in', (eb) =>
      eb
        .selectFrom('auth_token as newer')
        .select('newer.id')
        .where('newer.user_id', '=', p('userId'))
        .orderBy('newer.last_used_at_ms', 'desc')
        .orderBy('newer.id', 'desc')
        .limit(p('kept')),
    ),
);

const tokenByHash = statement<TokenTables, { hash: string }>()((db, p) =>
  db.selectFrom('auth_token').select('user_id').where('hash', '=', p('hash')),
);

const touchToken = statement<TokenTables, { hash: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('auth_token')
    .set({ last_used_at_ms: p('nowMs') })
    .where('hash', '=', p('hash'))
    .where('last_used_at_ms', '<', p('nowMs')),
);

/** A new token of a user, 40 hexadecimal digits. It is valid until it is revoked; only its hash is stored. */
export async function issueToken({ database, clock }: TokensOptions, user: User): Promise<string> {
  const token = randomBytes(20).toString('hex');
  const row = {
    user_id: user.id,
    hash: hashOf(token),
    hint: token.slice(0, hintLength),
    created_at_ms: clock.now(),
  };
  await database.write(async (session) => {
    await session.lock(`auth_token ${user.id}`);
    await insertToken.run(session, row);
    await dropUnused.run(session, { userId: user.id, kept: tokensMax });
  });
  return token;
}

/** Whom a token belongs to; undefined if it is unknown or was revoked. */
export async function userOfToken(
  { database, accounts, clock }: TokensOptions,
  token: string,
): Promise<User | undefined> {
  const hash = hashOf(token);
  const row = await tokenByHash.first(database, { hash });
  if (!row) return undefined;
  await database.write((session) => touchToken.run(session, { hash, nowMs: clock.now() }), {
    mayBeLost: true,
  });
  return accounts.byId(row.user_id);
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
