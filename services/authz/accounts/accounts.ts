import type { Clock, Log } from '@octavo/core';
import { AppError, notFound } from '@octavo/core';
import type { Passwords } from '@octavo/core/passwords';
import type { Database } from '@octavo/data';
import { forgetPeople } from '@octavo/people/sign-in';
import {
  type AccountsPage,
  eraseAccount,
  findAccounts,
  findByUid,
  findByUsername,
  findUsernames,
  insertAccount,
  listAccounts,
  type StoredAccount,
  type Tables,
  updateAccount,
} from '../store.ts';
import {
  type Account,
  asRole,
  checkNewAccount,
  checkNewPassword,
  isPartOfUsername,
  lastAdministrator,
} from './account.ts';

export interface AccountsOptions {
  readonly database: Database<Tables>;
  readonly passwords: Passwords;
  readonly clock: Clock;
  readonly log: Log;
  /** True if demo accounts may be used; in production they count as disabled. */
  readonly demo: boolean;
}

/** Accounts with their roles. */
export class Accounts {
  readonly #options: AccountsOptions;

  constructor(options: AccountsOptions) {
    this.#options = options;
  }

  async byUid(uid: number): Promise<StoredAccount | undefined> {
    return this.#usable(await findByUid(this.#options.database, uid));
  }

  async byUsername(username: string): Promise<StoredAccount | undefined> {
    return this.#usable(await findByUsername(this.#options.database, username));
  }

  /** Throws `not_found`, or `forbidden` if the account is disabled. */
  async enabledByUid(uid: number): Promise<StoredAccount> {
    const account = await this.byUid(uid);
    if (!account) throw notFound('account', uid);
    if (account.disabled) throw new AppError('forbidden', 'The account is disabled.', { reason: 'DISABLED' });
    return account;
  }

  async page(wanted: AccountsPage): Promise<{ accounts: Account[]; total: number }> {
    checkPage(wanted);
    if (!isPartOfUsername(wanted.search)) return { accounts: [], total: 0 };
    const { accounts, total } = await this.#options.database.read((session) => findAccounts(session, wanted));
    return { accounts: accounts.map((account) => this.#usable(account)), total };
  }

  async usernames(uids: readonly number[]): Promise<Map<number, string>> {
    if (uids.length > uidsMax) throw invalid('uids', `must be at most ${uidsMax}`);
    return findUsernames(this.#options.database, uids);
  }

  async list(): Promise<Account[]> {
    const accounts = await listAccounts(this.#options.database);
    return accounts.map((account) => this.#usable(account));
  }

  async create(account: { username: string; password: string; role: string }): Promise<Account> {
    await checkNewAccount(account);
    const { database, passwords, clock, log } = this.#options;
    const { username } = account;
    const role = asRole(account.role);
    if (await findByUsername(database, username)) throw taken(username);
    const passwordHash = await passwords.hash(account.password);
    const createdAtMs = clock.now();
    const created = await database.write((session) =>
      insertAccount(session, { username, role, passwordHash, createdAtMs }),
    );
    if (!created) throw taken(username);
    log.info({ uid: created.uid, username, role }, 'account created');
    return created;
  }

  /** Changes only the given fields. */
  async update(
    username: string,
    change: { password?: string; role?: string; disabled?: boolean },
  ): Promise<Account> {
    const { database, passwords, clock, log } = this.#options;
    const { disabled } = change;
    if (change.password !== undefined) await checkNewPassword(change.password);
    const role = change.role === undefined ? undefined : asRole(change.role);
    const account = await findByUsername(database, username);
    if (!account) throw notFound('account', username);
    const hash = change.password === undefined ? undefined : await passwords.hash(change.password);
    const password = hash === undefined ? undefined : { hash, nowMs: clock.now() };
    await updateAccount(database, account.uid, { role, disabled, password });
    const newPassword = password !== undefined;
    log.info(
      { uid: account.uid, username: account.username, role, disabled, newPassword },
      'account changed',
    );
    return (await this.byUid(account.uid)) as Account;
  }

  /**
   * Erases an account: it is gone for everybody at once, and what its owner wrote is of a former user. Throws `not_found`, and
   * `precondition_failed` (LAST_ADMINISTRATOR).
   */
  async erase(uid: number): Promise<void> {
    const { database, passwords, clock, log, demo } = this.#options;
    const given = { uid, passwordHash: passwords.unknowable(), nowMs: clock.now(), withDemo: demo };
    const isErased = await database.write(async (session) => {
      const isErased = await eraseAccount(session, given);
      if (isErased) await forgetPeople(session, '', [String(uid)], given.nowMs);
      return isErased;
    });
    if (!isErased) throw (await this.byUid(uid)) ? lastAdministrator() : notFound('account', uid);
    log.info({ uid }, 'account erased');
  }

  #usable<T extends StoredAccount | undefined>(account: T): T {
    if (!account?.demo || this.#options.demo) return account;
    return { ...account, disabled: true };
  }
}

const uidsMax = 200;
const pageSizeMax = 200;
const pageMax = 2 ** 31 - 1;

function checkPage({ page, pageSize }: AccountsPage): void {
  if (!isWithin(page, pageMax)) throw invalid('page', `must be 1 to ${pageMax}`);
  if (!isWithin(pageSize, pageSizeMax)) throw invalid('pageSize', `must be 1 to ${pageSizeMax}`);
}

function isWithin(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= max;
}

function invalid(field: string, problem: string): AppError {
  return new AppError('validation_failed', `${field} ${problem}`, { fields: { [field]: problem } });
}

function taken(username: string): AppError {
  return new AppError('conflict', `The account ${username} already exists.`, {
    fields: { username: 'is already taken' },
  });
}
