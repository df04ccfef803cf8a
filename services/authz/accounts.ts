import type { Passwords } from '#kit/auth/passwords.ts';
import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { AppError, notFound } from '#kit/errors.ts';
import type { Log } from '#kit/log.ts';
import { type Account, asRole, checkNewAccount, checkNewPassword } from './account.ts';
import {
  findByUid,
  findByUsername,
  insertAccount,
  listAccounts,
  type StoredAccount,
  type Tables,
  updateAccount,
} from './store.ts';

export interface AccountsOptions {
  readonly database: Database<Tables>;
  readonly passwords: Passwords;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether demo accounts may be used; in production they count as disabled. */
  readonly demo: boolean;
}

/** Who may sign in, and as what. */
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

  async list(): Promise<Account[]> {
    const accounts = await listAccounts(this.#options.database);
    return accounts.map((account) => this.#usable(account));
  }

  async create(account: { username: string; password: string; role: string }): Promise<Account> {
    checkNewAccount(account);
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

  /** Changes only what is given. */
  async update(
    username: string,
    change: { password?: string; role?: string; disabled?: boolean },
  ): Promise<Account> {
    const { database, passwords, log } = this.#options;
    const { password, disabled } = change;
    if (password !== undefined) checkNewPassword(password);
    const role = change.role === undefined ? undefined : asRole(change.role);
    const account = await findByUsername(database, username);
    if (!account) throw notFound('account', username);
    const passwordHash = password === undefined ? undefined : await passwords.hash(password);
    await updateAccount(database, account.uid, { role, disabled, passwordHash });
    const newPassword = password !== undefined;
    log.info(
      { uid: account.uid, username: account.username, role, disabled, newPassword },
      'account changed',
    );
    return (await this.byUid(account.uid)) as Account;
  }

  #usable<T extends StoredAccount | undefined>(account: T): T {
    if (!account?.demo || this.#options.demo) return account;
    return { ...account, disabled: true };
  }
}

function taken(username: string): AppError {
  return new AppError('conflict', `The account ${username} already exists.`, {
    fields: { username: 'is already taken' },
  });
}
