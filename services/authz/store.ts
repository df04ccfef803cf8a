import { isPassword } from '@octavo/core/passwords';
import { type HealthTables, type Session, statement, type WriteSession } from '@octavo/data';
import type { OidcTables } from '@octavo/people/sign-in';
import type { Expression, ExpressionBuilder, Generated, Kysely, Selectable } from 'kysely';
import { type Account, asRole, isUsername, type Role, usernameKey } from './accounts/account.ts';
import type { TotpTables } from './totp/store.ts';

export interface Tables extends TotpTables, OidcTables, HealthTables {
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
  password_changed_at_ms: number;
  erased: Generated<number>;
}

type AttemptColumn = `at_${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}_ms`;
type AttemptRow = { login: string } & Record<AttemptColumn, number>;

/** An account with the columns that only this service sees. */
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
  readonly password?: { readonly hash: string; readonly nowMs: number };
}

/** Filter and page of the list; pages count from 1. */
export interface AccountsPage {
  readonly page: number;
  readonly pageSize: number;
  /** A part of the username; empty for all accounts. */
  readonly search: string;
}

export type Store = Session<Tables>;

const uidMax = 2 ** 31 - 1;
const formerUser = 'former user';

type AccountWithTotp = Selectable<AccountRow> & { totp_enabled: unknown };

const byUid = statement<Tables, { uid: number }>()((db, p) =>
  accountsWithTotp(db).where('uid', '=', p('uid')),
);

function accountsWithTotp(db: Kysely<Tables>) {
  return db
    .selectFrom('account')
    .selectAll()
    .where('erased', '=', 0)
    .select((eb) =>
      eb
        .exists(
          eb
            .selectFrom('totp')
            .select('totp.uid')
            .whereRef('totp.uid', '=', 'account.uid')
            .where('totp.enabled', '=', 1),
        )
        .as('totp_enabled'),
    );
}

export async function findByUid(store: Store, uid: number): Promise<StoredAccount | undefined> {
  if (!isUid(uid)) return undefined;
  const row = await byUid.first(store, { uid });
  return row && toAccount(row);
}

export async function findByUsername(store: Store, username: string): Promise<StoredAccount | undefined> {
  if (!isUsername(username)) return undefined;
  const row = await accountsWithTotp(store.kysely)
    .where('username_key', '=', usernameKey(username))
    .executeTakeFirst();
  return row && toAccount(row);
}

export async function listAccounts(store: Store): Promise<StoredAccount[]> {
  const rows = await accountsWithTotp(store.kysely).orderBy('uid').execute();
  return rows.map(toAccount);
}

/** One page of the accounts whose name contains a text, and how many there are on all pages. */
export async function findAccounts(
  store: Store,
  { page, pageSize, search }: AccountsPage,
): Promise<{ accounts: StoredAccount[]; total: number }> {
  const key = usernameKey(search);
  const matches = (eb: ExpressionBuilder<Tables, 'account'>) =>
    key === ''
      ? eb.lit(true)
      : eb(eb.fn('replace', ['username_key', eb.val(key), eb.val('')]), '!=', eb.ref('username_key'));
  const counted = await store.kysely
    .selectFrom('account')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('erased', '=', 0)
    .where(matches)
    .executeTakeFirstOrThrow();
  const rows = await accountsWithTotp(store.kysely)
    .where(matches)
    .orderBy('uid')
    .limit(pageSize)
    .offset((page - 1) * pageSize)
    .execute();
  return { accounts: rows.map(toAccount), total: counted.total };
}

/** The names of accounts by uid, also of those that were erased; those that no account had are absent. */
export async function findUsernames(store: Store, uids: readonly number[]): Promise<Map<number, string>> {
  const valid = uids.filter(isUid);
  if (valid.length === 0) return new Map();
  const rows = await store.kysely
    .selectFrom('account')
    .select(['uid', 'username', 'erased'])
    .where('uid', 'in', valid)
    .execute();
  return new Map(rows.map(({ uid, username, erased }) => [uid, erased === 1 ? formerUser : username]));
}

/**
 * Erases what is kept about an account, unless no other account can manage users: one statement decides, in a lock that all who may
 * take an administrator away hold. Returns false if it is the last administrator, or is gone.
 */
export async function eraseAccount(
  store: WriteSession<Tables>,
  given: { uid: number; passwordHash: string; nowMs: number; withDemo: boolean },
): Promise<boolean> {
  const { uid, passwordHash, nowMs } = given;
  await store.lock(administratorsLock);
  const { numUpdatedRows } = await store.kysely
    .updateTable('account')
    .set({
      // No name of an account has a space.
      username: `former user ${uid}`,
      username_key: `former user ${uid}`,
      role: 'viewer',
      password_hash: passwordHash,
      disabled: 1,
      demo: 0,
      created_at_ms: nowMs,
      password_changed_at_ms: nowMs,
      erased: 1,
    })
    .where('uid', '=', uid)
    .where('erased', '=', 0)
    .where((eb) => isExpendable(eb, given))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await store.kysely.deleteFrom('totp').where('uid', '=', uid).execute();
  await store.kysely.deleteFrom('totp_failure').where('uid', '=', uid).execute();
  return true;
}

/** True if another account manages users, or this one does not. Holds the lock until the transaction ends. */
export async function mayGo(
  store: WriteSession<Tables>,
  given: { uid: number; withDemo: boolean },
): Promise<boolean> {
  await store.lock(administratorsLock);
  const row = await store.kysely
    .selectFrom('account')
    .select('uid')
    .where('uid', '=', given.uid)
    .where((eb) => isExpendable(eb, given))
    .executeTakeFirst();
  return row !== undefined;
}

const administratorsLock = 'administrators';

function isExpendable(
  eb: ExpressionBuilder<Tables, 'account'>,
  { uid, withDemo }: { uid: number; withDemo: boolean },
) {
  const others = eb
    .selectFrom('account as other')
    .select('other.uid')
    .where('other.role', '=', 'admin')
    .where('other.disabled', '=', 0)
    .where('other.demo', '<=', Number(withDemo))
    .where('other.uid', '<>', uid);
  return eb.or([eb('role', '<>', 'admin'), eb('disabled', '=', 1), eb.exists(others)]);
}

function isUid(uid: number): boolean {
  return Number.isInteger(uid) && uid >= 1 && uid <= uidMax;
}

/** The new account; undefined if the name is taken. The lock protects the choice of the next uid. */
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

/** Creates a demo account with its fixed uid. False if an account has that uid or name. */
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
      password_changed_at_ms: account.createdAtMs,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/** A new password makes a demo account an ordinary one. */
export async function updateAccount(store: Store, uid: number, change: AccountChange): Promise<void> {
  const { role, disabled, password } = change;
  if (role === undefined && disabled === undefined && password === undefined) return;
  await store.kysely
    .updateTable('account')
    .set((eb) => ({
      ...(role === undefined ? {} : { role }),
      ...(disabled === undefined ? {} : { disabled: Number(disabled) }),
      ...(password && {
        password_hash: password.hash,
        demo: 0,
        password_changed_at_ms: nextChange(eb, eb.val(password.nowMs)),
      }),
    }))
    .where('uid', '=', uid)
    .execute();
}

/** Changes a password, unless it has changed since it was read. */
export function replacePassword(
  { kysely }: Store,
  given: { uid: number; before: string; after: string; demo: 0 | 1; nowMs: number },
) {
  return kysely
    .updateTable('account')
    .set((eb) => ({
      password_hash: given.after,
      demo: given.demo,
      password_changed_at_ms: nextChange(eb, eb.val(given.nowMs)),
    }))
    .where('uid', '=', given.uid)
    .where('password_hash', '=', given.before)
    .executeTakeFirst();
}

/** Now, or a millisecond after the change before, so that two changes never have the same time. */
function nextChange(eb: ExpressionBuilder<Tables, 'account'>, nowMs: Expression<number>) {
  return eb
    .case()
    .when('password_changed_at_ms', '>=', nowMs)
    .then(eb('password_changed_at_ms', '+', 1))
    .else(nowMs)
    .end();
}

/** Replaces the hash of the same password, unless the password has changed since. */
export function replaceHash(
  { kysely }: Store,
  { uid, before, after }: { uid: number; before: string; after: string },
) {
  return kysely
    .updateTable('account')
    .set({ password_hash: after })
    .where('uid', '=', uid)
    .where('password_hash', '=', before)
    .execute();
}

function toAccount(row: AccountWithTotp): StoredAccount {
  return {
    uid: row.uid,
    username: row.username,
    role: asRole(row.role),
    disabled: row.disabled !== 0,
    createdAtMs: row.created_at_ms,
    passwordChangedAtMs: row.password_changed_at_ms,
    totpEnabled: row.totp_enabled === 1,
    hasPassword: isPassword(row.password_hash),
    passwordHash: row.password_hash,
    demo: row.demo !== 0,
  };
}

/**
 * Records an attempt if fewer than ten failed after the cutoff; it replaces the oldest of the ten. One statement, so that
 * simultaneous attempts, here or in another replica, cannot both take the last place.
 */
export function reserveAttempt(
  { kysely }: Store,
  { login, nowMs, cutoffMs }: { login: string; nowMs: number; cutoffMs: number },
) {
  return kysely
    .insertInto('login_attempt')
    .values({
      login,
      at_0_ms: 0,
      at_1_ms: 0,
      at_2_ms: 0,
      at_3_ms: 0,
      at_4_ms: 0,
      at_5_ms: 0,
      at_6_ms: 0,
      at_7_ms: 0,
      at_8_ms: 0,
      at_9_ms: nowMs,
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
        .where('login_attempt.at_0_ms', '<=', cutoffMs),
    )
    .executeTakeFirst();
}

/** The oldest of the ten attempts. If it is after the cutoff, no further attempt is allowed. */
export function oldestAttempt({ kysely }: Store, login: string) {
  return kysely.selectFrom('login_attempt').select('at_0_ms').where('login', '=', login).executeTakeFirst();
}

export function clearAttempts({ kysely }: Store, login: string) {
  return kysely.deleteFrom('login_attempt').where('login', '=', login).execute();
}

export function sweepAttempts({ kysely }: Store, cutoffMs: number) {
  return kysely.deleteFrom('login_attempt').where('at_9_ms', '<=', cutoffMs).execute();
}
