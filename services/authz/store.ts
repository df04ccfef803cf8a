import { type Session, statement, type WriteSession } from '#kit/db/index.ts';
import { type Account, asRole, isUsername, type Role, usernameKey } from './account.ts';

export interface Tables {
  account: AccountRow;
  login_attempt: AttemptRow;
}

interface AccountRow {
  uid: number;
  username: string;
  username_key: string;
  role: Role;
  password_hash: string;
  disabled: number;
  demo: number;
  created_at_ms: number;
}

type AttemptColumn = `at_${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}_ms`;
type AttemptRow = { login: string } & Record<AttemptColumn, number>;

/** An account with what only this service knows of it. */
export interface StoredAccount extends Account {
  readonly passwordHash: string;
  readonly demo: boolean;
}

export interface NewAccount {
  readonly username: string;
  readonly role: Role;
  readonly passwordHash: string;
  readonly createdAtMs: number;
}

export interface AccountChange {
  readonly role?: Role;
  readonly disabled?: boolean;
  readonly passwordHash?: string;
}

type Store = Session<Tables>;

const uidMax = 2 ** 31 - 1;

const byUid = statement<Tables, { uid: number }, AccountRow>((db, p) =>
  db.selectFrom('account').selectAll().where('uid', '=', p('uid')),
);

const byKey = statement<Tables, { key: string }, AccountRow>((db, p) =>
  db.selectFrom('account').selectAll().where('username_key', '=', p('key')),
);

export async function findByUid(store: Store, uid: number): Promise<StoredAccount | undefined> {
  if (!Number.isInteger(uid) || uid < 1 || uid > uidMax) return undefined;
  const row = await byUid.first(store, { uid });
  return row && toAccount(row);
}

export async function findByUsername(store: Store, username: string): Promise<StoredAccount | undefined> {
  if (!isUsername(username)) return undefined;
  const row = await byKey.first(store, { key: usernameKey(username) });
  return row && toAccount(row);
}

export async function listAccounts(store: Store): Promise<StoredAccount[]> {
  const rows = await store.kysely.selectFrom('account').selectAll().orderBy('uid').execute();
  return rows.map(toAccount);
}

/** The new account; `undefined` where the name is taken. The lock is for the next uid. */
export async function insertAccount(
  store: WriteSession<Tables>,
  account: NewAccount,
): Promise<StoredAccount | undefined> {
  await store.lock('account');
  const newest = await store.kysely
    .selectFrom('account')
    .select((eb) => eb.fn.max('uid').as('uid'))
    .executeTakeFirst();
  const uid = Math.max(3, newest?.uid ?? 0) + 1;
  const inserted = await insertRow(store, { ...account, uid, demo: false });
  return inserted ? findByUid(store, uid) : undefined;
}

/** Makes a demo account with its fixed uid. False where there is one of that uid or name. */
export async function insertDemoAccount(
  store: WriteSession<Tables>,
  account: NewAccount & { uid: number },
): Promise<boolean> {
  await store.lock('account');
  return insertRow(store, { ...account, demo: true });
}

async function insertRow(
  store: Store,
  account: NewAccount & { uid: number; demo: boolean },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await store.kysely
    .insertInto('account')
    .values({
      uid: account.uid,
      username: account.username,
      username_key: usernameKey(account.username),
      role: account.role,
      password_hash: account.passwordHash,
      disabled: 0,
      demo: Number(account.demo),
      created_at_ms: account.createdAtMs,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** A new password makes a demo account a real one: somebody took it over. */
export async function updateAccount(store: Store, uid: number, change: AccountChange): Promise<void> {
  const { role, disabled, passwordHash } = change;
  const values = {
    ...(role === undefined ? {} : { role }),
    ...(disabled === undefined ? {} : { disabled: Number(disabled) }),
    ...(passwordHash === undefined ? {} : { password_hash: passwordHash, demo: 0 }),
  };
  if (Object.keys(values).length === 0) return;
  await store.kysely.updateTable('account').set(values).where('uid', '=', uid).execute();
}

/** Puts another hash in the place of one, unless somebody changed the password meanwhile. */
export const replaceHash = statement<Tables, { uid: number; before: string; after: string }>((db, p) =>
  db
    .updateTable('account')
    .set({ password_hash: p('after') })
    .where('uid', '=', p('uid'))
    .where('password_hash', '=', p('before')),
);

function toAccount(row: AccountRow): StoredAccount {
  return {
    uid: row.uid,
    username: row.username,
    role: asRole(row.role),
    disabled: row.disabled !== 0,
    createdAtMs: row.created_at_ms,
    passwordHash: row.password_hash,
    demo: row.demo !== 0,
  };
}

/**
 * Counts an attempt where fewer than ten failed after the cutoff: the oldest of the ten makes room. One statement, so
 * that attempts at the same moment, here or in another replica, cannot both take the last place.
 */
export const reserveAttempt = statement<Tables, { login: string; nowMs: number; cutoffMs: number }>((db, p) =>
  db
    .insertInto('login_attempt')
    .values({
      login: p('login'),
      at_0_ms: 0,
      at_1_ms: 0,
      at_2_ms: 0,
      at_3_ms: 0,
      at_4_ms: 0,
      at_5_ms: 0,
      at_6_ms: 0,
      at_7_ms: 0,
      at_8_ms: 0,
      at_9_ms: p('nowMs'),
    })
    .onConflict((conflict) =>
      conflict
        .column('login')
        .doUpdateSet((eb) => ({
          at_0_ms: eb.ref('login_attempt.at_1_ms'),
          at_1_ms: eb.ref('login_attempt.at_2_ms'),
          at_2_ms: eb.ref('login_attempt.at_3_ms'),
          at_3_ms: eb.ref('login_attempt.at_4_ms'),
          at_4_ms: eb.ref('login_attempt.at_5_ms'),
          at_5_ms: eb.ref('login_attempt.at_6_ms'),
          at_6_ms: eb.ref('login_attempt.at_7_ms'),
          at_7_ms: eb.ref('login_attempt.at_8_ms'),
          at_8_ms: eb.ref('login_attempt.at_9_ms'),
          at_9_ms: eb.ref('excluded.at_9_ms'),
        }))
        .where('login_attempt.at_0_ms', '<=', p('cutoffMs')),
    ),
);

/** The oldest of the ten; after the cutoff where no further attempt may be made. */
export const oldestAttempt = statement<Tables, { login: string }, { at_0_ms: number }>((db, p) =>
  db.selectFrom('login_attempt').select('at_0_ms').where('login', '=', p('login')),
);

export const clearAttempts = statement<Tables, { login: string }>((db, p) =>
  db.deleteFrom('login_attempt').where('login', '=', p('login')),
);

export const sweepAttempts = statement<Tables, { cutoffMs: number }>((db, p) =>
  db.deleteFrom('login_attempt').where('at_9_ms', '<=', p('cutoffMs')),
);
