import { createHash } from 'node:crypto';
import { type PackageMigrations, statement, type WriteSession } from '@octavo/data';

/** The tables of the sign-in with an OpenID provider, for `migrations` of a service. */
export const oidcMigrations: PackageMigrations = {
  folder: new URL('./migrations/', import.meta.url),
  prefix: 'oidc',
  versionsFrom: 50_000,
};

export interface OidcTables {
  oidc_identity: IdentityRow;
  oidc_session: SessionRow;
  oidc_attempt: { hash: string; expires_at_ms: number };
  oidc_revocation: RevocationRow;
}

export interface IdentityRow {
  realm: string;
  issuer: string;
  subject: string;
  account: string;
  roles: string;
  connected_at_ms: number;
  confirmed_at_ms: number;
  asked_at_ms: number;
}

export interface SessionRow {
  key: string;
  realm: string;
  issuer: string;
  subject: string;
  sid: string | null;
  id_token: string;
  refresh_token: string | null;
  created_at_ms: number;
  expires_at_ms: number;
}

export interface RevocationRow {
  id: string;
  token: string;
  tries: number;
  next_try_at_ms: number;
  expires_at_ms: number;
}

type Key = Pick<IdentityRow, 'realm' | 'issuer' | 'subject'>;

export const identityOf = statement<OidcTables, Key>()((db, p) =>
  db
    .selectFrom('oidc_identity')
    .selectAll()
    .where('realm', '=', p('realm'))
    .where('issuer', '=', p('issuer'))
    .where('subject', '=', p('subject')),
);

export const identityOfAccount = statement<OidcTables, Pick<IdentityRow, 'realm' | 'issuer' | 'account'>>()(
  (db, p) =>
    db
      .selectFrom('oidc_identity')
      .selectAll()
      .where('realm', '=', p('realm'))
      .where('issuer', '=', p('issuer'))
      .where('account', '=', p('account')),
);

/** Throws `conflict` if the person or the account is connected already. */
export const insertIdentity = statement<OidcTables, { [K in keyof IdentityRow]: IdentityRow[K] }>()((db, p) =>
  db.insertInto('oidc_identity').values({
    realm: p('realm'),
    issuer: p('issuer'),
    subject: p('subject'),
    account: p('account'),
    roles: p('roles'),
    connected_at_ms: p('connected_at_ms'),
    confirmed_at_ms: p('confirmed_at_ms'),
    asked_at_ms: p('asked_at_ms'),
  }),
);

export const deleteIdentity = statement<OidcTables, Key>()((db, p) =>
  db
    .deleteFrom('oidc_identity')
    .where('realm', '=', p('realm'))
    .where('issuer', '=', p('issuer'))
    .where('subject', '=', p('subject')),
);

/**
 * Forgets the people and sessions of accounts that are being deleted, in their transaction. Another account may get the same number
 * later, and must not be theirs. With the time, access tokens of before do not make them new accounts, see {@link leftHash}.
 */
export async function forgetPeople(
  { kysely }: Pick<WriteSession<OidcTables>, 'kysely'>,
  realm: string,
  accounts: readonly string[],
  nowMs?: number,
): Promise<void> {
  if (accounts.length === 0) return;
  const people = kysely
    .selectFrom('oidc_identity')
    .where('oidc_identity.realm', '=', realm)
    .where('oidc_identity.account', 'in', accounts);
  if (nowMs !== undefined) {
    const expires_at_ms = nowMs + leftForMs;
    for (const identity of await people.selectAll().execute()) {
      await kysely
        .insertInto('oidc_attempt')
        .values({ hash: leftHash(identity), expires_at_ms })
        .onConflict((conflict) => conflict.column('hash').doUpdateSet({ expires_at_ms }))
        .execute();
    }
  }
  await endSessionsOf({ kysely }, realm, accounts);
  await kysely
    .deleteFrom('oidc_identity')
    .where('realm', '=', realm)
    .where('account', 'in', accounts)
    .execute();
}

/** Longer than access tokens last. */
export const leftForMs = 60 * 60_000;

/** An attempt that is used up, or a person who left. */
export const attemptOf = statement<OidcTables, { hash: string }>()((db, p) =>
  db.selectFrom('oidc_attempt').selectAll().where('hash', '=', p('hash')),
);

/** Stored in place of a person who left, until access tokens of before have expired. */
export function leftHash({ realm, issuer, subject }: Key): string {
  return createHash('sha256')
    .update(JSON.stringify(['left', realm, issuer, subject]))
    .digest('base64url');
}

/** Ends the sessions of people who have these accounts. */
export async function endSessionsOf(
  { kysely }: Pick<WriteSession<OidcTables>, 'kysely'>,
  realm: string,
  accounts: readonly string[],
): Promise<void> {
  const people = kysely
    .selectFrom('oidc_identity')
    .select('oidc_identity.subject')
    .where('oidc_identity.realm', '=', realm)
    .where('oidc_identity.account', 'in', accounts);
  await kysely.deleteFrom('oidc_session').where('realm', '=', realm).where('subject', 'in', people).execute();
}

/** The provider said which roles these are. */
export const confirmRoles = statement<OidcTables, Key & { roles: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('oidc_identity')
    .set({ roles: p('roles'), confirmed_at_ms: p('nowMs'), asked_at_ms: p('nowMs') })
    .where('realm', '=', p('realm'))
    .where('issuer', '=', p('issuer'))
    .where('subject', '=', p('subject')),
);

/** People with roles that were not asked for since a time. */
export const dueIdentities = statement<
  OidcTables,
  { realm: string; issuer: string; beforeMs: number; most: number }
>()((db, p) =>
  db
    .selectFrom('oidc_identity')
    .selectAll()
    .where('realm', '=', p('realm'))
    .where('issuer', '=', p('issuer'))
    .where('roles', '<>', '')
    .where('asked_at_ms', '<=', p('beforeMs'))
    .orderBy('asked_at_ms')
    .limit(p('most')),
);

/** People of other providers who have roles. */
export const otherIdentities = statement<OidcTables, { realm: string; issuer: string }>()((db, p) =>
  db
    .selectFrom('oidc_identity')
    .selectAll()
    .where('realm', '=', p('realm'))
    .where('issuer', '<>', p('issuer'))
    .where('roles', '<>', ''),
);

/** One process of several gets it. */
export const claimIdentity = statement<OidcTables, Key & { beforeMs: number; nowMs: number }>()((db, p) =>
  db
    .updateTable('oidc_identity')
    .set({ asked_at_ms: p('nowMs') })
    .where('realm', '=', p('realm'))
    .where('issuer', '=', p('issuer'))
    .where('subject', '=', p('subject'))
    .where('asked_at_ms', '=', p('beforeMs')),
);

export const insertSession = statement<OidcTables, { [K in keyof SessionRow]: SessionRow[K] }>()((db, p) =>
  db.insertInto('oidc_session').values({
    key: p('key'),
    realm: p('realm'),
    issuer: p('issuer'),
    subject: p('subject'),
    sid: p('sid'),
    id_token: p('id_token'),
    refresh_token: p('refresh_token'),
    created_at_ms: p('created_at_ms'),
    expires_at_ms: p('expires_at_ms'),
  }),
);

export const sessionByKey = statement<OidcTables, { key: string }>()((db, p) =>
  db.selectFrom('oidc_session').selectAll().where('key', '=', p('key')),
);

/** The newest session of a person by which the provider can be asked. */
export const askableSession = statement<OidcTables, Key & { nowMs: number }>()((db, p) =>
  db
    .selectFrom('oidc_session')
    .selectAll()
    .where('realm', '=', p('realm'))
    .where('issuer', '=', p('issuer'))
    .where('subject', '=', p('subject'))
    .where('refresh_token', 'is not', null)
    .where('expires_at_ms', '>', p('nowMs'))
    .orderBy('created_at_ms', 'desc')
    .limit(1),
);

export const keepGrant = statement<
  OidcTables,
  { key: string; id_token: string; refresh_token: string | null }
>()((db, p) =>
  db
    .updateTable('oidc_session')
    .set({ id_token: p('id_token'), refresh_token: p('refresh_token') })
    .where('key', '=', p('key')),
);

export const deleteSession = statement<OidcTables, { key: string }>()((db, p) =>
  db.deleteFrom('oidc_session').where('key', '=', p('key')),
);

export const sessionsOfSubject = statement<OidcTables, Key>()((db, p) =>
  db
    .selectFrom('oidc_session')
    .select(['key', 'sid'])
    .where('realm', '=', p('realm'))
    .where('issuer', '=', p('issuer'))
    .where('subject', '=', p('subject')),
);

export const sessionsOfSid = statement<OidcTables, { realm: string; issuer: string; sid: string }>()(
  (db, p) =>
    db
      .selectFrom('oidc_session')
      .select(['key', 'subject'])
      .where('realm', '=', p('realm'))
      .where('issuer', '=', p('issuer'))
      .where('sid', '=', p('sid')),
);

/** Changes nothing for an attempt that was used up before. */
export const useUpAttempt = statement<OidcTables, { hash: string; expires_at_ms: number }>()((db, p) =>
  db
    .insertInto('oidc_attempt')
    .values({ hash: p('hash'), expires_at_ms: p('expires_at_ms') })
    .onConflict((conflict) => conflict.column('hash').doNothing()),
);

export const insertRevocation = statement<OidcTables, { [K in keyof RevocationRow]: RevocationRow[K] }>()(
  (db, p) =>
    db.insertInto('oidc_revocation').values({
      id: p('id'),
      token: p('token'),
      tries: p('tries'),
      next_try_at_ms: p('next_try_at_ms'),
      expires_at_ms: p('expires_at_ms'),
    }),
);

export const dueRevocations = statement<OidcTables, { nowMs: number; most: number }>()((db, p) =>
  db
    .selectFrom('oidc_revocation')
    .selectAll()
    .where('next_try_at_ms', '<=', p('nowMs'))
    .orderBy('next_try_at_ms')
    .limit(p('most')),
);

/** One process of several gets it. */
export const claimRevocation = statement<
  OidcTables,
  { id: string; dueMs: number; tries: number; nextMs: number }
>()((db, p) =>
  db
    .updateTable('oidc_revocation')
    .set({ tries: p('tries'), next_try_at_ms: p('nextMs') })
    .where('id', '=', p('id'))
    .where('next_try_at_ms', '=', p('dueMs')),
);

export const deleteRevocation = statement<OidcTables, { id: string }>()((db, p) =>
  db.deleteFrom('oidc_revocation').where('id', '=', p('id')),
);

export const sweepSessions = statement<OidcTables, { nowMs: number }>()((db, p) =>
  db.deleteFrom('oidc_session').where('expires_at_ms', '<=', p('nowMs')),
);

export const sweepAttempts = statement<OidcTables, { nowMs: number }>()((db, p) =>
  db.deleteFrom('oidc_attempt').where('expires_at_ms', '<=', p('nowMs')),
);
