import { statement, type WriteSession } from '@octavo/data';
import { type Insertable, sql } from 'kysely';
import type { MailedLinkRow, Store, Tables } from '../store/tables.ts';

/** Adds an account, unless the address is taken, and returns its number. */
export function insertAccount(
  { kysely }: Store,
  given: { id: string; email: string; username: string | null; passwordHash: string; nowMs: number },
) {
  return kysely
    .insertInto('account')
    .values({
      id: given.id,
      email: given.email,
      username: given.username,
      password_hash: given.passwordHash,
      email_verified: 0,
      disabled: 0,
      notification_seq: 0,
      created_at_ms: given.nowMs,
      updated_at_ms: given.nowMs,
    })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('number')
    .executeTakeFirst();
}

export function accountByEmail({ kysely }: Store, email: string) {
  return kysely.selectFrom('account').selectAll().where('email', '=', email).executeTakeFirst();
}

export function accountsOfDomain({ kysely }: Store, domain: string) {
  return kysely
    .selectFrom('account')
    .select(['number', 'id'])
    .where('email', 'like', `%@${domain}`)
    .execute();
}

export function accountByNumber({ kysely }: Store, owner: number) {
  return kysely.selectFrom('account').selectAll().where('number', '=', owner).executeTakeFirst();
}

export function insertSession({ kysely }: Store, row: Insertable<Tables['session']>) {
  return kysely.insertInto('session').values(row).execute();
}

/** Selects the account of a session. */
export const accountOfSession = statement<Tables, { id: string; nowMs: number }>()((db, p) =>
  db
    .selectFrom('session')
    .innerJoin('account', 'account.number', 'session.owner')
    .select(['account.number as owner', 'account.id as userId', 'account.disabled'])
    .select('session.expires_at_ms as expiresAtMs')
    .where('session.id', '=', p('id'))
    .where('session.expires_at_ms', '>', p('nowMs')),
);

/** Sessions that have not ended, of those given as a JSON array of ids. */
export function openSessions({ kysely, dialect }: Store, ids: string, nowMs: number) {
  return kysely
    .selectFrom('session')
    .innerJoin('account', 'account.number', 'session.owner')
    .select(['session.id', 'account.disabled'])
    .where(
      'session.id',
      'in',
      dialect === 'sqlite'
        ? sql<string>`(SELECT value FROM json_each(${ids}))`
        : sql<string>`(SELECT jsonb_array_elements_text(${ids}::jsonb))`,
    )
    .where('session.expires_at_ms', '>', nowMs)
    .execute();
}

export function deleteSession({ kysely }: Store, id: string) {
  return kysely.deleteFrom('session').where('id', '=', id).execute();
}

/** Ends all sessions of an account except one. */
export function deleteSessionsOf({ kysely }: Store, owner: number, except: string) {
  return kysely.deleteFrom('session').where('owner', '=', owner).where('id', '!=', except).execute();
}

export function deleteExpiredSessions({ kysely }: Store, nowMs: number) {
  return kysely
    .deleteFrom('session')
    .where('id', 'in', (eb) =>
      eb.selectFrom('session').select('id').where('expires_at_ms', '<', nowMs).limit(1_000),
    )
    .execute();
}

export function setPassword(
  { kysely }: Store,
  { owner, passwordHash, nowMs }: { owner: number; passwordHash: string; nowMs: number },
) {
  return kysely
    .updateTable('account')
    .set({ password_hash: passwordHash, updated_at_ms: nowMs })
    .where('number', '=', owner)
    .execute();
}

/** Replaces a hash that was made with another cost, if it has not changed since. */
export function rehash({ kysely }: Store, { owner, from, to }: { owner: number; from: string; to: string }) {
  return kysely
    .updateTable('account')
    .set({ password_hash: to })
    .where('number', '=', owner)
    .where('password_hash', '=', from)
    .execute();
}

/** An e-mail address counts as verified only if it is still the one of the account. */
export function verifyAddress(
  { kysely }: Store,
  { owner, email, nowMs }: { owner: number; email: string; nowMs: number },
) {
  return kysely
    .updateTable('account')
    .set({ email_verified: 1, updated_at_ms: nowMs })
    .where('number', '=', owner)
    .where('email', '=', email)
    .executeTakeFirst();
}

export function updateAccount(
  { kysely }: Store,
  given: { owner: number; username: string | null; email: string; verified: number; nowMs: number },
) {
  return kysely
    .updateTable('account')
    .set({
      username: given.username,
      email: given.email,
      email_verified: given.verified,
      updated_at_ms: given.nowMs,
    })
    .where('number', '=', given.owner)
    .returningAll()
    .executeTakeFirst();
}

export function deleteAccount({ kysely }: Store, owner: number) {
  return kysely.deleteFrom('account').where('number', '=', owner).executeTakeFirst();
}

/** Frees the address of an account whose rows are about to be deleted. No other account can have such an address. */
export function markErased(
  { kysely }: Store,
  { owner, email, nowMs }: { owner: number; email: string; nowMs: number },
) {
  return kysely
    .updateTable('account')
    .set({ email, username: null, password_hash: '', disabled: 1, erased_at_ms: nowMs })
    .where('number', '=', owner)
    .where('erased_at_ms', 'is', null)
    .executeTakeFirst();
}

/** Accounts whose erasure was interrupted. */
export function erasedAccounts({ kysely }: Store) {
  return kysely
    .selectFrom('account')
    .select('number')
    .where('erased_at_ms', 'is not', null)
    .limit(100)
    .execute();
}

/** Tables with many rows of one account, and a key of each within the account. Others go with the account. */
const large = {
  expense: 'number',
  ledger_transaction: 'id',
  notification: 'seq',
  idempotency_key: 'key',
  task: 'id',
  customer_order: 'id',
} as const;

/** Deletes some rows of an account in each of the large tables, and returns how many. */
export async function deleteSlice(
  { kysely, dialect }: WriteSession<Tables>,
  owner: number,
  limit: number,
): Promise<number> {
  let deleted = 0;
  for (const [table, key] of Object.entries(large)) {
    const [name, id] = [sql.table(table), sql.ref(key)];
    const some = sql`SELECT ${id} FROM ${name} WHERE owner = ${owner} LIMIT ${limit - deleted}`;
    // With an array, PostgreSQL looks up each row instead of scanning the table, also before it has statistics.
    const chosen = dialect === 'sqlite' ? sql`IN (${some})` : sql`= ANY (ARRAY(${some}))`;
    const result = await sql`DELETE FROM ${name} WHERE owner = ${owner} AND ${id} ${chosen}`.execute(kysely);
    deleted += Number(result.numAffectedRows ?? 0);
    if (deleted >= limit) break;
  }
  return deleted;
}

// Links in mails

export function insertLink({ kysely }: Store, row: Insertable<Tables['mailed_link']>) {
  return kysely.insertInto('mailed_link').values(row).execute();
}

export function countRecentLinks(
  { kysely }: Store,
  { owner, kind, sinceMs }: { owner: number; kind: MailedLinkRow['kind']; sinceMs: number },
) {
  return kysely
    .selectFrom('mailed_link')
    .select((eb) => eb.fn.countAll<number>().as('links'))
    .where('owner', '=', owner)
    .where('kind', '=', kind)
    .where('created_at_ms', '>', sinceMs)
    .executeTakeFirst();
}

export function findLink({ kysely }: Store, id: string) {
  return kysely.selectFrom('mailed_link').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Takes a link; of several requests with the same link, one gets it. */
export function takeLink(
  { kysely }: Store,
  { id, kind, nowMs }: { id: string; kind: MailedLinkRow['kind']; nowMs: number },
) {
  return kysely
    .deleteFrom('mailed_link')
    .where('id', '=', id)
    .where('kind', '=', kind)
    .where('expires_at_ms', '>', nowMs)
    .returning(['owner', 'email'])
    .executeTakeFirst();
}

export function deleteLinksOf({ kysely }: Store, owner: number, kind: MailedLinkRow['kind']) {
  return kysely.deleteFrom('mailed_link').where('owner', '=', owner).where('kind', '=', kind).execute();
}

export function markSent({ kysely }: Store, id: string, nowMs: number) {
  return kysely.updateTable('mailed_link').set({ sent_at_ms: nowMs }).where('id', '=', id).execute();
}

/** Links whose mail was not sent, although it was written some time ago. */
export function unsentLinks({ kysely }: Store, beforeMs: number, nowMs: number) {
  return kysely
    .selectFrom('mailed_link')
    .select('id')
    .where(sql<boolean>`sent_at_ms IS NULL`)
    .where('created_at_ms', '<', beforeMs)
    .where('expires_at_ms', '>', nowMs)
    .limit(100)
    .execute();
}

export function deleteExpiredLinks({ kysely }: Store, beforeMs: number) {
  return kysely
    .deleteFrom('mailed_link')
    .where('id', 'in', (eb) =>
      eb.selectFrom('mailed_link').select('id').where('expires_at_ms', '<', beforeMs).limit(1_000),
    )
    .execute();
}

// Idempotency-Keys of requests without a session

export const findAnonymousKey = statement<Tables, { keyHash: string; sinceMs: number }>()((db, p) =>
  db
    .selectFrom('anonymous_key')
    .select(['digest', 'result'])
    .where('key_hash', '=', p('keyHash'))
    .where('created_at_ms', '>', p('sinceMs')),
);

/** Replaces one that has expired. */
export const putAnonymousKey = statement<
  Tables,
  { keyHash: string; owner: number | null; digest: string; result: string; nowMs: number }
>()((db, p) => {
  const values = {
    owner: p('owner'),
    digest: p('digest'),
    result: p('result'),
    created_at_ms: p('nowMs'),
  };
  return db
    .insertInto('anonymous_key')
    .values({ key_hash: p('keyHash'), ...values })
    .onConflict((conflict) => conflict.column('key_hash').doUpdateSet(values));
});

/** Deletes at most 1,000 of the keys that have expired. */
export function sweepAnonymousKeys({ kysely }: Store, beforeMs: number) {
  return kysely
    .deleteFrom('anonymous_key')
    .where('key_hash', 'in', (eb) =>
      eb.selectFrom('anonymous_key').select('key_hash').where('created_at_ms', '<', beforeMs).limit(1_000),
    )
    .execute();
}
