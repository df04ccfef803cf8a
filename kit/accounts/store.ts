import { type Session, statement } from '../db/index.ts';
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

export const userById = statement<AccountTables, { id: number }>()((db, p) =>
  db.selectFrom('auth_user').selectAll().where('id', '=', p('id')),
);

export const userByKey = statement<AccountTables, { key: string }>()((db, p) =>
  db.selectFrom('auth_user').selectAll().where('username_key', '=', p('key')),
);

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

export const noteSignIn = statement<AccountTables, { id: number; nowMs: number }>()((db, p) =>
  db
    .updateTable('auth_user')
    .set({ last_sign_in_at_ms: p('nowMs') })
    .where('id', '=', p('id')),
);

/** Replaces a hash by one of the same password, unless the password was changed meanwhile. */
export const replaceHash = statement<AccountTables, { id: number; before: string; after: string }>()(
  (db, p) =>
    db
      .updateTable('auth_user')
      .set({ password_hash: p('after') })
      .where('id', '=', p('id'))
      .where('password_hash', '=', p('before')),
);

export const setPasswordHash = statement<AccountTables, { id: number; hash: string; nowMs: number }>()(
  (db, p) =>
    db
      .updateTable('auth_user')
      .set({ password_hash: p('hash'), password_changed_at_ms: p('nowMs') })
      .where('id', '=', p('id')),
);

/** An administrator who can sign in. */
export const anyAdministrator = statement<AccountTables>()((db) =>
  db
    .selectFrom('auth_user')
    .select('id')
    .where('is_superuser', '=', 1)
    .where('is_staff', '=', 1)
    .where('is_active', '=', 1)
    .limit(1),
);

export const permissionRows = statement<AccountTables, { userId: number }>()((db, p) =>
  db
    .selectFrom('auth_group_permission')
    .innerJoin('auth_membership', 'auth_membership.group_id', 'auth_group_permission.group_id')
    .select(['model', 'action'])
    .distinct()
    .where('auth_membership.user_id', '=', p('userId')),
);

export const insertSession = statement<AccountTables, { [K in keyof SessionRow]: SessionRow[K] }>()((db, p) =>
  db.insertInto('auth_session').values({
    hash: p('hash'),
    user_id: p('user_id'),
    created_at_ms: p('created_at_ms'),
    last_used_at_ms: p('last_used_at_ms'),
    expires_at_ms: p('expires_at_ms'),
    address: p('address'),
    user_agent: p('user_agent'),
  }),
);

/** The active user of a live session, and when the session was last used. */
export const userOfSession = statement<AccountTables, { hash: string; nowMs: number; idleSinceMs: number }>()(
  (db, p) =>
    db
      .selectFrom('auth_session')
      .innerJoin('auth_user', 'auth_user.id', 'auth_session.user_id')
      .selectAll('auth_user')
      .select('auth_session.last_used_at_ms')
      .where('auth_session.hash', '=', p('hash'))
      .where('auth_session.expires_at_ms', '>', p('nowMs'))
      .where('auth_session.last_used_at_ms', '>', p('idleSinceMs'))
      .where('auth_user.is_active', '=', 1),
);

export const touchSession = statement<AccountTables, { hash: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('auth_session')
    .set({ last_used_at_ms: p('nowMs') })
    .where('hash', '=', p('hash')),
);

export const deleteSession = statement<AccountTables, { hash: string }>()((db, p) =>
  db.deleteFrom('auth_session').where('hash', '=', p('hash')),
);

export const deleteSessions = statement<AccountTables, { userId: number; except: string }>()((db, p) =>
  db.deleteFrom('auth_session').where('user_id', '=', p('userId')).where('hash', '!=', p('except')),
);

export const sweepSessions = statement<AccountTables, { nowMs: number }>()((db, p) =>
  db.deleteFrom('auth_session').where('expires_at_ms', '<=', p('nowMs')),
);

/** Counts an attempt if fewer than `threshold` failed in a row. One statement, so that parallel attempts gain nothing. */
export const reserveAttempt = statement<
  AccountTables,
  { key: string; nowMs: number; cutoffMs: number; threshold: number }
>()((db, p) =>
  db
    .insertInto('auth_lockout')
    .values({ key: p('key'), failures: 1, last_failure_at_ms: p('nowMs') })
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet((eb) => ({
          failures: eb
            .case()
            .when('auth_lockout.last_failure_at_ms', '<=', p('cutoffMs'))
            .then(1)
            .else(eb('auth_lockout.failures', '+', 1))
            .end(),
          last_failure_at_ms: eb.ref('excluded.last_failure_at_ms'),
        }))
        .where((eb) =>
          eb.or([
            eb('auth_lockout.failures', '<', p('threshold')),
            eb('auth_lockout.last_failure_at_ms', '<=', p('cutoffMs')),
          ]),
        ),
    ),
);

/** Undoes the count of an attempt that was neither right nor wrong. */
export const giveBackAttempt = statement<AccountTables, { key: string }>()((db, p) =>
  db
    .updateTable('auth_lockout')
    .set((eb) => ({ failures: eb('failures', '-', 1) }))
    .where('key', '=', p('key'))
    .where('failures', '>', 0),
);

export const lastFailure = statement<AccountTables, { key: string }>()((db, p) =>
  db.selectFrom('auth_lockout').select('last_failure_at_ms').where('key', '=', p('key')),
);

export const clearAttempts = statement<AccountTables, { key: string }>()((db, p) =>
  db.deleteFrom('auth_lockout').where('key', '=', p('key')),
);

export const sweepAttempts = statement<AccountTables, { cutoffMs: number }>()((db, p) =>
  db.deleteFrom('auth_lockout').where('last_failure_at_ms', '<=', p('cutoffMs')),
);

export const insertSetupLink = statement<AccountTables, { hash: string; expiresAtMs: number }>()((db, p) =>
  db.insertInto('auth_setup_link').values({ hash: p('hash'), expires_at_ms: p('expiresAtMs') }),
);

export const setupLink = statement<AccountTables, { hash: string; nowMs: number }>()((db, p) =>
  db
    .selectFrom('auth_setup_link')
    .select('hash')
    .where('hash', '=', p('hash'))
    .where('expires_at_ms', '>', p('nowMs')),
);

export const useSetupLink = statement<AccountTables, { hash: string; nowMs: number }>()((db, p) =>
  db.deleteFrom('auth_setup_link').where('hash', '=', p('hash')).where('expires_at_ms', '>', p('nowMs')),
);

export const deleteSetupLinks = statement<AccountTables, { nowMs: number }>()((db, p) =>
  db.deleteFrom('auth_setup_link').where('expires_at_ms', '<=', p('nowMs')),
);

export const insertSecret = statement<AccountTables, { name: string; value: string }>()((db, p) =>
  db
    .insertInto('auth_secret')
    .values({ name: p('name'), value: p('value') })
    .onConflict((conflict) => conflict.column('name').doNothing()),
);

export const secretByName = statement<AccountTables, { name: string }>()((db, p) =>
  db.selectFrom('auth_secret').select('value').where('name', '=', p('name')),
);

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
