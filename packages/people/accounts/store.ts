import type { Session, WriteSession } from '@octavo/data';
import type { ExpressionBuilder, Insertable } from 'kysely';
import type { User } from './user.ts';

/** The tables of accounts. A service extends its own with it: `interface Tables extends AccountTables`. */
export interface AccountTables {
  auth_user: UserRow;
  auth_group: { id: number; name: string };
  auth_group_permission: { group_id: number; model: string; action: string };
  auth_membership: { user_id: number; group_id: number };
  auth_session: SessionRow;
  auth_lockout: { key: string; failures: number; last_failure_at_ms: number };
  auth_setup_link: { hash: string; expires_at_ms: number };
  auth_secret: { name: string; value: string };
}

/** Place where queries run: the database, a snapshot or a transaction. */
export type Store = Session<AccountTables>;

export interface UserRow {
  id: number;
  username: string;
  username_key: string;
  email: string | null;
  password_hash: string;
  is_active: number;
  is_staff: number;
  is_superuser: number;
  created_at_ms: number;
  last_sign_in_at_ms: number | null;
  password_changed_at_ms: number;
}

export interface SessionRow {
  hash: string;
  user_id: number;
  created_at_ms: number;
  last_used_at_ms: number;
  expires_at_ms: number;
  address: string;
  user_agent: string;
}

export function userById({ kysely }: Store, id: number) {
  return kysely.selectFrom('auth_user').selectAll().where('id', '=', id).executeTakeFirst();
}

export function userByKey({ kysely }: Store, key: string) {
  return kysely.selectFrom('auth_user').selectAll().where('username_key', '=', key).executeTakeFirst();
}

/** The new row. Throws `conflict` if the username is taken. */
export async function insertUser(
  session: Session<AccountTables>,
  row: Omit<UserRow, 'id' | 'last_sign_in_at_ms'>,
): Promise<UserRow> {
  return session.kysely
    .insertInto('auth_user')
    .values(row as UserRow)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function noteSignIn({ kysely }: Store, id: number, nowMs: number) {
  return kysely.updateTable('auth_user').set({ last_sign_in_at_ms: nowMs }).where('id', '=', id).execute();
}

/** Replaces a hash by another of the same password, unless the password has changed since. */
export function replaceHash(
  { kysely }: Store,
  { id, before, after }: { id: number; before: string; after: string },
) {
  return kysely
    .updateTable('auth_user')
    .set({ password_hash: after })
    .where('id', '=', id)
    .where('password_hash', '=', before)
    .execute();
}

export function setPasswordHash(
  { kysely }: Store,
  { id, hash, nowMs }: { id: number; hash: string; nowMs: number },
) {
  return kysely
    .updateTable('auth_user')
    .set({ password_hash: hash, password_changed_at_ms: nowMs })
    .where('id', '=', id)
    .execute();
}

export function setRights({ kysely }: Store, id: number, rights: Pick<UserRow, 'is_staff' | 'is_superuser'>) {
  return kysely.updateTable('auth_user').set(rights).where('id', '=', id).execute();
}

/**
 * Deletes a user with their sessions, unless there would be no administrator left who can sign in: one statement decides, in a lock that all
 * who may take an administrator away hold. Returns false if nothing was deleted.
 */
export async function deleteUser(session: WriteSession<AccountTables>, id: number): Promise<boolean> {
  await session.lock(administratorsLock);
  const { numDeletedRows } = await session.kysely
    .deleteFrom('auth_user')
    .where('id', '=', id)
    .where((eb) => isExpendable(eb, id))
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** True if the user may lose all rights: another administrator can sign in, or the user is none. Holds the lock, too. */
export async function mayLoseRights(session: WriteSession<AccountTables>, id: number): Promise<boolean> {
  await session.lock(administratorsLock);
  const row = await session.kysely
    .selectFrom('auth_user')
    .select('id')
    .where('id', '=', id)
    .where((eb) => isExpendable(eb, id))
    .executeTakeFirst();
  return row !== undefined;
}

/** Name of the lock of transactions after which there may be fewer administrators. */
export const administratorsLock = 'auth_administrators';

function isExpendable(eb: ExpressionBuilder<AccountTables, 'auth_user'>, id: number) {
  const others = eb
    .selectFrom('auth_user as other')
    .select('other.id')
    .where('other.is_superuser', '=', 1)
    .where('other.is_staff', '=', 1)
    .where('other.is_active', '=', 1)
    .where('other.id', '<>', id);
  return eb.or([
    eb('is_superuser', '=', 0),
    eb('is_staff', '=', 0),
    eb('is_active', '=', 0),
    eb.exists(others),
  ]);
}

/** An administrator who can sign in. */
export function anyAdministrator({ kysely }: Store) {
  return kysely
    .selectFrom('auth_user')
    .select('id')
    .where('is_superuser', '=', 1)
    .where('is_staff', '=', 1)
    .where('is_active', '=', 1)
    .limit(1)
    .executeTakeFirst();
}

export function permissionRows({ kysely }: Store, userId: number) {
  return kysely
    .selectFrom('auth_group_permission')
    .innerJoin('auth_membership', 'auth_membership.group_id', 'auth_group_permission.group_id')
    .select(['model', 'action'])
    .distinct()
    .where('auth_membership.user_id', '=', userId)
    .execute();
}

export function insertSession({ kysely }: Store, row: Insertable<AccountTables['auth_session']>) {
  return kysely.insertInto('auth_session').values(row).execute();
}

/** The active user of a live session, and when the session was last used. */
export function userOfSession(
  { kysely }: Store,
  { hash, nowMs, idleSinceMs }: { hash: string; nowMs: number; idleSinceMs: number },
) {
  return kysely
    .selectFrom('auth_session')
    .innerJoin('auth_user', 'auth_user.id', 'auth_session.user_id')
    .selectAll('auth_user')
    .select('auth_session.last_used_at_ms')
    .where('auth_session.hash', '=', hash)
    .where('auth_session.expires_at_ms', '>', nowMs)
    .where('auth_session.last_used_at_ms', '>', idleSinceMs)
    .where('auth_user.is_active', '=', 1)
    .executeTakeFirst();
}

export function touchSession({ kysely }: Store, hash: string, nowMs: number) {
  return kysely
    .updateTable('auth_session')
    .set({ last_used_at_ms: nowMs })
    .where('hash', '=', hash)
    .execute();
}

export function deleteSession({ kysely }: Store, hash: string) {
  return kysely.deleteFrom('auth_session').where('hash', '=', hash).execute();
}

export function deleteSessions({ kysely }: Store, userId: number, except: string) {
  return kysely
    .deleteFrom('auth_session')
    .where('user_id', '=', userId)
    .where('hash', '!=', except)
    .execute();
}

export function sweepSessions({ kysely }: Store, nowMs: number) {
  return kysely.deleteFrom('auth_session').where('expires_at_ms', '<=', nowMs).execute();
}

/** Counts an attempt if fewer than `threshold` failed in a row. One statement, so that parallel attempts gain nothing. */
export function reserveAttempt(
  { kysely }: Store,
  given: { key: string; nowMs: number; cutoffMs: number; threshold: number },
) {
  return kysely
    .insertInto('auth_lockout')
    .values({ key: given.key, failures: 1, last_failure_at_ms: given.nowMs })
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet((eb) => ({
          failures: eb
            .case()
            .when('auth_lockout.last_failure_at_ms', '<=', given.cutoffMs)
            .then(1)
            .else(eb('auth_lockout.failures', '+', 1))
            .end(),
          last_failure_at_ms: eb.ref('excluded.last_failure_at_ms'),
        }))
        .where((eb) =>
          eb.or([
            eb('auth_lockout.failures', '<', given.threshold),
            eb('auth_lockout.last_failure_at_ms', '<=', given.cutoffMs),
          ]),
        ),
    )
    .executeTakeFirst();
}

/** Undoes the count of an attempt that was neither right nor wrong. */
export function giveBackAttempt({ kysely }: Store, key: string) {
  return kysely
    .updateTable('auth_lockout')
    .set((eb) => ({ failures: eb('failures', '-', 1) }))
    .where('key', '=', key)
    .where('failures', '>', 0)
    .execute();
}

export function lastFailure({ kysely }: Store, key: string) {
  return kysely
    .selectFrom('auth_lockout')
    .select('last_failure_at_ms')
    .where('key', '=', key)
    .executeTakeFirst();
}

export function clearAttempts({ kysely }: Store, key: string) {
  return kysely.deleteFrom('auth_lockout').where('key', '=', key).execute();
}

export function sweepAttempts({ kysely }: Store, cutoffMs: number) {
  return kysely.deleteFrom('auth_lockout').where('last_failure_at_ms', '<=', cutoffMs).execute();
}

export function insertSetupLink({ kysely }: Store, hash: string, expiresAtMs: number) {
  return kysely.insertInto('auth_setup_link').values({ hash, expires_at_ms: expiresAtMs }).execute();
}

export function setupLink({ kysely }: Store, hash: string, nowMs: number) {
  return kysely
    .selectFrom('auth_setup_link')
    .select('hash')
    .where('hash', '=', hash)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst();
}

export function useSetupLink({ kysely }: Store, hash: string, nowMs: number) {
  return kysely
    .deleteFrom('auth_setup_link')
    .where('hash', '=', hash)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst();
}

export function deleteSetupLinks({ kysely }: Store, nowMs: number) {
  return kysely.deleteFrom('auth_setup_link').where('expires_at_ms', '<=', nowMs).execute();
}

export function insertSecret({ kysely }: Store, { name, value }: { name: string; value: string }) {
  return kysely
    .insertInto('auth_secret')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
}

export function secretByName({ kysely }: Store, name: string) {
  return kysely.selectFrom('auth_secret').select('value').where('name', '=', name).executeTakeFirst();
}

/** The user of a row, without its hash. */
export function toUser(row: UserRow): User {
  return {
    id: row.id,
    username: row.username,
    email: row.email ?? undefined,
    isActive: row.is_active === 1,
    isStaff: row.is_staff === 1,
    isSuperuser: row.is_superuser === 1,
    createdAtMs: row.created_at_ms,
    lastSignInAtMs: row.last_sign_in_at_ms ?? undefined,
    passwordChangedAtMs: row.password_changed_at_ms,
  };
}
