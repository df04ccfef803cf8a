import { hash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@octavo/core';
import { AppError, type Fields, newSecret, notFound } from '@octavo/core';
import type { Database, WriteSession } from '@octavo/data';
import type { Insertable } from 'kysely';
import type { ClientRow, Tables } from '../store/store.ts';
import { serviceIdOf } from '../users/index.ts';

/** An application that signs people in at this provider. */
export interface Client {
  readonly id: string;
  readonly name: string;
  /** One of ours, which needs no consent. */
  readonly isFirstParty: boolean;
  /** False for applications that cannot keep a secret, such as those that run in the browser. */
  readonly hasSecret: boolean;
  /** Addresses that a sign-in may return to. They must match exactly. */
  readonly redirects: readonly string[];
  /** Addresses that a sign-out may return to. */
  readonly postLogouts: readonly string[];
  /** Address that is called when a user signs out. */
  readonly backChannel: string | undefined;
  /** Address of the application's own API, the audience of access tokens for it. No other application has it. */
  readonly audience: string | undefined;
  readonly createdMs: number;
}

export interface NewClient {
  readonly name: string;
  readonly redirects: readonly string[];
  readonly postLogouts?: readonly string[] | undefined;
  readonly backChannel?: string | undefined;
  /** The origin of the first redirect address by default, if no other application has that. */
  readonly audience?: string | undefined;
  readonly isFirstParty?: boolean | undefined;
  /** The application cannot keep a secret: it has none, and PKCE alone protects its codes. */
  readonly isPublic?: boolean | undefined;
}

interface Place {
  readonly database: Database<Tables>;
  readonly clock: Clock;
}

const nameCharactersMax = 60;
const addressesMax = 20;
/** Audience as the database has it. */
const noAudience = '';

/** Registers an application. Returns its secret, which is stored only as a hash, unless it is public. Throws `conflict` or `validation_failed`. */
export async function addClient(
  { database, clock }: Place,
  given: NewClient,
): Promise<{ client: Client; secret: string | undefined }> {
  const secret = given.isPublic ? undefined : newSecret();
  const row = rowOf(given, secret, clock.now());
  const { changes, audience } = await database.write(async ({ kysely }) => {
    const audience = await ownAudience({ kysely }, row, given);
    const insert = kysely.insertInto('oidc_client').values({ ...row, audience });
    const result = await insert
      .onConflict((conflict) => conflict.column('id').doNothing())
      .executeTakeFirst();
    return { changes: Number(result.numInsertedOrUpdatedRows ?? 0), audience };
  });
  if (changes === 0) {
    throw new AppError('conflict', `There is an application ${row.id} already.`, {
      fields: { name: 'is already registered' },
    });
  }
  return { client: toClient({ ...row, audience }), secret };
}

/**
 * Registers an application under a secret that the caller keeps, or brings it up to date: for services of the suite, whose start repeats
 * this. Settings of the same application are replaced.
 */
export async function ensureClient(
  { database, clock }: Place,
  given: NewClient & { readonly secret: string },
): Promise<Client> {
  const row = rowOf(given, given.secret, clock.now());
  const { id: _, created_at_ms: __, ...settings } = row;
  await database.write(
    async ({ kysely }) => {
      // The one who starts a service knows whose address it is; another application had it by mistake, or before ports changed.
      await kysely
        .updateTable('oidc_client')
        .set({ audience: noAudience })
        .where('audience', '=', row.audience)
        .where('id', '<>', row.id)
        .execute();
      await kysely
        .insertInto('oidc_client')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doUpdateSet(settings))
        .execute();
    },
    // The next start does it again.
    { mayBeLost: true },
  );
  return toClient(row);
}

/** Changes an application but for its id and secret. Throws `not_found`, `conflict` or `validation_failed`. */
export async function changeClient({ database, clock }: Place, id: string, given: NewClient): Promise<void> {
  const { id: _, secret_hash: __, created_at_ms: ___, ...settings } = rowOf(given, undefined, clock.now());
  const { numUpdatedRows } = await database.write(async ({ kysely }) => {
    const audience = await ownAudience({ kysely }, { id, audience: settings.audience }, given);
    const change = kysely.updateTable('oidc_client').set({ ...settings, audience });
    return change.where('id', '=', id).executeTakeFirstOrThrow();
  });
  if (numUpdatedRows === 0n) throw notFound('application', id);
}

/** Gives an application a new secret; the old one no longer counts. Throws `not_found`, also for one without secrets. */
export async function renewSecret(database: Database<Tables>, id: string): Promise<string> {
  const secret = newSecret();
  const { numUpdatedRows } = await database.write(({ kysely }) =>
    kysely
      .updateTable('oidc_client')
      .set({ secret_hash: hashOf(secret) })
      .where('id', '=', id)
      .where('secret_hash', 'is not', null)
      .executeTakeFirstOrThrow(),
  );
  if (numUpdatedRows === 0n) throw notFound('application with a secret', id);
  return secret;
}

/** Removes an application. Its refresh tokens and codes are useless without it. Throws `not_found`. */
export async function removeClient(database: Database<Tables>, name: string): Promise<void> {
  const { numDeletedRows } = await database.write(({ kysely }) =>
    kysely.deleteFrom('oidc_client').where('id', '=', serviceIdOf(name)).executeTakeFirstOrThrow(),
  );
  if (numDeletedRows === 0n) throw notFound('application', name);
}

export async function listClients({ kysely }: Pick<Database<Tables>, 'kysely'>): Promise<Client[]> {
  return (await kysely.selectFrom('oidc_client').selectAll().orderBy('id').execute()).map(toClient);
}

export async function findClient(
  { kysely }: Pick<Database<Tables>, 'kysely'>,
  id: string,
): Promise<(Client & { readonly secretHash: string | undefined }) | undefined> {
  const row = await kysely.selectFrom('oidc_client').selectAll().where('id', '=', id).executeTakeFirst();
  return row && { ...toClient(row), secretHash: row.secret_hash ?? undefined };
}

/**
 * The audience of an application: as given, else the default if no other application has that. Throws a `conflict` that names who has it.
 */
async function ownAudience(
  { kysely }: Pick<WriteSession<Tables>, 'kysely'>,
  { id, audience }: Pick<Insertable<ClientRow>, 'id' | 'audience'>,
  given: NewClient,
): Promise<string> {
  const query = kysely.selectFrom('oidc_client').select('name').where('audience', '=', audience);
  const owner = await query.where('id', '<>', id).executeTakeFirst();
  if (!owner) return audience;
  if (given.audience === undefined) return noAudience;
  throw new AppError('conflict', `The audience ${audience} belongs to the application ${owner.name}.`, {
    fields: { audience: `is already that of the application ${owner.name}` },
  });
}

/** The application whose API has the address. */
export async function findAudience(
  { kysely }: Pick<Database<Tables>, 'kysely'>,
  audience: string,
): Promise<Client | undefined> {
  if (audience === noAudience) return undefined;
  const query = kysely.selectFrom('oidc_client').selectAll().where('audience', '=', audience);
  const row = await query.executeTakeFirst();
  return row && toClient(row);
}

/** The application whose secret an `Authorization` header proves (RFC 6749 section 2.3.1). */
export async function provenClient(
  database: Pick<Database<Tables>, 'kysely'>,
  authorization = '',
): Promise<string | undefined> {
  const [, encoded = ''] = /^Basic ([\w+/=-]{1,1000})$/i.exec(authorization) ?? [];
  const [id, secret] = Buffer.from(encoded, 'base64').toString().split(':').map(decoded);
  if (!id || !secret) return undefined;
  const client = await findClient(database, id);
  return client && isSecret(secret, client.secretHash) ? id : undefined;
}

/** Decodes a half, which is encoded as in a form. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return '';
  }
}

/** Compares a secret with a stored hash, in constant time. */
export function isSecret(secret: string, secretHash: string | undefined): boolean {
  const [expected, given] = [Buffer.from(secretHash ?? ''), Buffer.from(hashOf(secret))];
  return expected.length === given.length && timingSafeEqual(expected, given);
}

/** A secret is 256 random bits, so its hash needs no salt. */
export function hashOf(secret: string): string {
  return hash('sha256', secret, 'base64url');
}

function rowOf(given: NewClient, secret: string | undefined, nowMs: number): Insertable<ClientRow> {
  const name = given.name.trim();
  const { redirects, postLogouts = [], backChannel } = given;
  const audience = given.audience ?? originOf(redirects[0]);
  const problems = problemsOf({ ...given, name, postLogouts, audience });
  if (Object.keys(problems).length > 0) {
    const text = Object.entries(problems).map(([field, problem]) => `${field} ${problem}`);
    throw new AppError('validation_failed', `The application cannot be registered: ${text.join('; ')}.`, {
      fields: problems,
    });
  }
  return {
    id: serviceIdOf(name),
    name,
    secret_hash: secret === undefined ? null : hashOf(secret),
    redirect_addresses: JSON.stringify(redirects),
    post_logout_addresses: JSON.stringify(postLogouts),
    back_channel_address: backChannel ?? null,
    audience,
    first_party: Number(given.isFirstParty ?? false),
    created_at_ms: nowMs,
  };
}

function problemsOf(given: NewClient & { postLogouts: readonly string[]; audience: string }): Fields {
  const { name, redirects, postLogouts, backChannel, audience } = given;
  const problems: Record<string, string> = {};
  if (serviceIdOf(name) === '') problems.name = 'must have a letter or digit';
  if ([...name].length > nameCharactersMax) problems.name = `must be at most ${nameCharactersMax} characters`;
  if (redirects.length === 0) problems.redirects = 'is required';
  for (const [field, addresses] of Object.entries({ redirects, postLogouts })) {
    const wrong = addresses.find((address) => !isAddress(address));
    if (addresses.length > addressesMax) problems[field] = `must be at most ${addressesMax} addresses`;
    if (wrong !== undefined) problems[field] = `must be http or https addresses without #: ${wrong}`;
  }
  if (backChannel !== undefined && !isAddress(backChannel))
    problems.backChannel = 'must be an http or https address';
  if (redirects.length > 0 && !isAddress(audience)) problems.audience = 'must be an http or https address';
  return problems;
}

function isAddress(text: string): boolean {
  if (!URL.canParse(text) || /[\s\\#*]/.test(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

function originOf(address: string | undefined): string {
  return address !== undefined && URL.canParse(address) ? new URL(address).origin : '';
}

function toClient(row: Insertable<ClientRow>): Client {
  return {
    id: row.id,
    name: row.name,
    isFirstParty: row.first_party === 1,
    hasSecret: row.secret_hash !== null,
    redirects: JSON.parse(row.redirect_addresses),
    postLogouts: JSON.parse(row.post_logout_addresses),
    backChannel: row.back_channel_address ?? undefined,
    audience: row.audience === noAudience ? undefined : row.audience,
    createdMs: row.created_at_ms,
  };
}
