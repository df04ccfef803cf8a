import { availableParallelism } from 'node:os';
import type { Log } from '@octavo/core';
import { AppError, type Clock, type Config, flag, type Settings, systemClock } from '@octavo/core';
import { lockoutSettings, logSignIn } from '@octavo/core/auth';
import { runEvery } from '@octavo/core/concurrency';
import {
  type Hasher,
  isPassword,
  openPasswordRules,
  type PasswordRules,
  Passwords,
  passwordCost,
  passwordRuleSettings,
  passwordSettings,
  weakPassword,
} from '@octavo/core/passwords';
import type { Database, PackageMigrations, Session, WriteSession } from '@octavo/data';
import {
  type AccountHost,
  forgetPeople,
  type OidcConfig,
  type OidcSignIn,
  type OidcTables,
  passwordsOff,
} from '../sign-in/index.ts';
import { accountHost, rightsOf } from './host.ts';
import { Lockout } from './lockout.ts';
import { type Permissions, permissionsOf } from './permissions.ts';
import { keptSecret } from './secrets.ts';
import { Sessions } from './sessions.ts';
import { createSetupToken, hasAdministrator, isSetupToken, takeSetupToken } from './setup-link.ts';
import {
  type AccountTables,
  deleteUser,
  insertUser,
  noteSignIn,
  replaceHash,
  setPasswordHash,
  toUser,
  type UserRow,
  userById,
  userByKey,
} from './store.ts';
import {
  checkNames,
  lastAdministrator,
  type NewUser,
  type User,
  usernameCharactersMax,
  usernameKey,
  usernameTaken,
} from './user.ts';

/** The tables of accounts, for `migrations` of a service: `[accountMigrations, new URL('./migrations/', import.meta.url)]`. */
export const accountMigrations: PackageMigrations = {
  folder: new URL('./migrations/', import.meta.url),
  prefix: 'accounts',
  versionsFrom: 10_000,
};

/** The settings of accounts; services spread them into theirs. */
export const accountSettings = {
  ...passwordSettings,
  ...passwordRuleSettings,
  ...lockoutSettings,
  ADMIN_SETUP_LINK: flag({
    default: false,
    help: 'Print a one-time link that creates the first administrator also in production; elsewhere it is always printed',
  }),
} satisfies Settings;

export interface AccountsOptions {
  readonly database: Database<AccountTables>;
  readonly config: Config<typeof accountSettings> & Partial<Pick<OidcConfig, 'OIDC_ONLY'>>;
  readonly clock?: Clock;
  readonly log: Log;
  /** Words that passwords must not contain, in lower case: the service's name. */
  readonly words: readonly string[];
  /** Kind of these accounts among the people of an OpenID provider, empty by default; null for a service without their tables. */
  readonly peopleRealm?: string | null;
  /** Closes everything that is opened here. */
  readonly stack: AsyncDisposableStack;
}

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Opens the accounts of a service. While it runs, expired rows are deleted every minute. */
export async function openAccounts(options: AccountsOptions): Promise<Accounts> {
  const { database, config, clock = systemClock, log, words, peopleRealm = '', stack } = options;
  const rules = await openPasswordRules(config, words, stack);
  const passwords = new Passwords({
    cost: passwordCost(config),
    running: Math.min(4, availableParallelism()),
  });
  const { LOCKOUT_THRESHOLD: threshold, LOCKOUT_MS: lockMs } = config;
  const lockout = new Lockout({ database, passwords, clock, threshold, lockMs });
  const isWithoutPasswords = config.OIDC_ONLY === true;
  const parts = { database, clock, log, passwords, rules, lockout, isWithoutPasswords, peopleRealm };
  const accounts = new Accounts(parts);
  const failure = 'expired sessions and failures were not deleted';
  stack.use(runEvery(sweepEveryMs, () => accounts.sweep(), { log, failure }));
  return accounts;
}

const sweepEveryMs = 60_000;

/** Deletes other data of a service about a user. */
export type Forget<DB extends AccountTables> = (session: WriteSession<DB>, id: string) => Promise<void>;

interface Parts {
  readonly peopleRealm: string | null;
  readonly isWithoutPasswords: boolean;
  readonly database: Database<AccountTables>;
  readonly clock: Clock;
  readonly log: Log;
  readonly passwords: Passwords;
  readonly rules: PasswordRules;
  readonly lockout: Lockout;
}

/** The users of one service, in its own database. */
export class Accounts {
  readonly #parts: Parts;
  /** Browsers that are signed in. */
  readonly sessions: Sessions;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.sessions = new Sessions(parts);
  }

  /** The least number of characters of a new password. */
  get passwordCharactersMin(): number {
    return this.#parts.rules.charactersMin;
  }

  /**
   * Creates a user. Throws `validation_failed` with the fields, `invalid_input` with reason `WEAK_PASSWORD` (field `password`), or
   * `conflict` with reason `USERNAME_TAKEN`.
   */
  async create(user: NewUser): Promise<User> {
    const row = await this.newRow(user);
    return this.#parts.database.write((session) => this.#insert(session, row));
  }

  /** The user with this id. */
  async byId(id: number): Promise<User | undefined> {
    if (!Number.isInteger(id) || id < 1 || id > idMax) return undefined;
    const row = await userById(this.#parts.database, id);
    return row && toUser(row);
  }

  /** The user of this name, in any case. */
  async byUsername(username: string): Promise<User | undefined> {
    const row = await this.#rowByName(this.#parts.database, username);
    return row && toUser(row);
  }

  /**
   * The user with these credentials. An unknown name, a wrong password, an inactive user and one that `admits` refuses give the
   * same `unauthenticated` error (reason `INVALID_CREDENTIALS`) after the same time. Five failures in a row lock the name for 15
   * minutes: `rate_limited` (reason `ACCOUNT_LOCKED`) with `retryAfterSeconds`, also with the right password. Throws `forbidden` where
   * passwords are off (`OIDC_ONLY`).
   */
  signIn(credentials: Credentials, admits: (user: User) => boolean = () => true): Promise<User> {
    return logSignIn(
      this.#parts.log,
      () => this.#signIn(credentials, admits),
      ({ id }) => id,
    );
  }

  async #signIn(credentials: Credentials, admits: (user: User) => boolean): Promise<User> {
    const { lockout, database, clock, isWithoutPasswords } = this.#parts;
    if (isWithoutPasswords) throw passwordsOff();
    const user = await lockout.attempt(`sign-in:${usernameKey(credentials.username)}`, (hasher) =>
      this.#verify(hasher, credentials, admits),
    );
    if (!user)
      throw new AppError('unauthenticated', 'The username or the password is wrong.', {
        reason: 'INVALID_CREDENTIALS',
      });
    const nowMs = clock.now();
    await noteSignIn(database, user.id, nowMs);
    return { ...user, lastSignInAtMs: nowMs };
  }

  /**
   * Changes the user's own password and ends all other sessions. Throws `unauthenticated` (reason `WRONG_PASSWORD`) if the current
   * one is wrong, `rate_limited` after five wrong ones, which do not keep the user from signing in, and `WEAK_PASSWORD`.
   */
  async changePassword(
    user: User,
    given: { currentPassword: string; newPassword: string },
    sessionToken?: string,
  ): Promise<void> {
    await this.checkOwnPassword(user, given.currentPassword);
    if (given.newPassword.normalize('NFC') === given.currentPassword.normalize('NFC'))
      throw weakPassword('must differ from the current one');
    await this.#parts.rules.check(given.newPassword, user);
    await this.#setPassword(user, given.newPassword);
    await this.sessions.endAll(user, sessionToken);
  }

  /** Throws `unauthenticated` (reason `WRONG_PASSWORD`) unless it is the user's password, and `rate_limited` after five wrong ones. */
  async checkOwnPassword({ id }: Pick<User, 'id'>, password: string): Promise<void> {
    const { lockout, database } = this.#parts;
    const isRight = await lockout.attempt(`own:${id}`, async (hasher) => {
      const row = await userById(database, id);
      return (await hasher.verify(row?.password_hash, password)) || undefined;
    });
    if (!isRight)
      throw new AppError('unauthenticated', 'Your current password is wrong.', { reason: 'WRONG_PASSWORD' });
  }

  /** False for a person of an OpenID provider who never had a password here. */
  async hasPassword({ id }: Pick<User, 'id'>): Promise<boolean> {
    const row = await userById(this.#parts.database, id);
    return row !== undefined && isPassword(row.password_hash);
  }

  /**
   * Erases a user; what refers to the user goes or stays as the service's tables say, and `forget` does the rest in the same transaction.
   * All sessions end. Throws `conflict` (reason `LAST_ADMINISTRATOR`), and `unauthenticated` for a user who is gone.
   */
  async erase<DB extends AccountTables>({ id }: Pick<User, 'id'>, forget: Forget<DB>): Promise<void> {
    const { database, log } = this.#parts;
    const isErased = await database.write(async (session) => {
      const isErased = await deleteUser(session, id);
      if (isErased) await this.forgetPeople(session, [String(id)]);
      if (isErased) await forget(session as unknown as WriteSession<DB>, String(id));
      return isErased;
    });
    if (!isErased) {
      if (await this.byId(id)) throw lastAdministrator();
      throw new AppError('unauthenticated', 'Your account is erased already.');
    }
    log.info({ event: 'account_erased', userid: id }, 'account erased by its owner');
  }

  /** Sets the password of a user, as an administrator does; ends all sessions and the lock. Throws `WEAK_PASSWORD`. */
  async setPassword(user: User, password: string): Promise<void> {
    await this.#parts.rules.check(password, user);
    await this.#setPassword(user, password);
    await this.sessions.endAll(user);
    await this.#parts.lockout.forget(`sign-in:${usernameKey(user.username)}`);
  }

  /** Returns the user's permissions in the admin. */
  permissionsOf(user: User): Promise<Permissions> {
    return permissionsOf(this.#parts.database, user);
  }

  /** Returns true if there is an administrator who can sign in. */
  hasAdministrator(): Promise<boolean> {
    return hasAdministrator(this.#parts.database);
  }

  /** The token of a new link for the first administrator (an hour, once); undefined if there is an administrator. */
  createSetupToken(): Promise<string | undefined> {
    return createSetupToken(this.#parts.database, this.#parts.clock);
  }

  /** Returns true while the link with this token works. */
  isSetupToken(token: string): Promise<boolean> {
    return isSetupToken(this.#parts.database, this.#parts.clock, token);
  }

  /** Creates the first administrator by a link and ends all links. Throws like {@link create}, and `not_found` for an ended link. */
  async setUp(token: string, credentials: Credentials): Promise<User> {
    if (!(await this.isSetupToken(token)))
      throw new AppError(
        'not_found',
        'This link was used, has expired, or there is an administrator already.',
      );
    const row = await this.newRow({ ...credentials, isStaff: true, isSuperuser: true });
    return this.#parts.database.write(async (session) => {
      await session.lock('auth_setup_link');
      await takeSetupToken(session, token, this.#parts.clock.now());
      return this.#insert(session, row);
    });
  }

  /** A secret that all replicas share: the one given, or one kept in the database under a name. */
  secret(name: string, given?: string): Promise<string> {
    return keptSecret(this.#parts.database, name, given);
  }

  /** True if passwords are off. */
  get isWithoutPasswords(): boolean {
    return this.#parts.isWithoutPasswords;
  }

  /**
   * The user of an access token of the OpenID provider, with the rights that the token names; undefined for other tokens.
   * Throws like {@link OidcSignIn.holderOf}, and `unauthenticated` for a user who may not sign in.
   */
  async byBearer(oidc: Pick<OidcSignIn<never>, 'holderOf'>, token: string): Promise<User | undefined> {
    const holder = await oidc.holderOf(token);
    if (!holder) return undefined;
    const user = await this.byId(Number(holder.account));
    if (!user?.isActive) throw new AppError('unauthenticated', 'This account is blocked.');
    const isAdministrator = rightsOf(holder.roles).is_staff === 1;
    return { ...user, isStaff: isAdministrator, isSuperuser: isAdministrator };
  }

  /** Host of these accounts for people of an OpenID provider. */
  host(): AccountHost<AccountTables & OidcTables> {
    const { clock, passwords } = this.#parts;
    return accountHost({ clock, passwords, sessions: this.sessions });
  }

  /** Forgets the people of an OpenID provider whose accounts are being deleted, in the same transaction. */
  async forgetPeople(session: WriteSession<AccountTables>, ids: readonly string[]): Promise<void> {
    const { peopleRealm, clock } = this.#parts;
    if (peopleRealm === null) return;
    await forgetPeople(session as unknown as WriteSession<OidcTables>, peopleRealm, ids, clock.now());
  }

  /** Deletes sessions and failures that no longer count. */
  async sweep(): Promise<void> {
    await this.sessions.sweep();
    await this.#parts.lockout.sweep();
  }

  /** The row of a new user, validated and with a hashed password, for the caller to insert. Throws like {@link create}. */
  async newRow(user: NewUser): Promise<NewRow> {
    const { rules, passwords, clock } = this.#parts;
    const { username, email } = checkNames(user);
    await rules.check(user.password, { username, email });
    if (await this.byUsername(username)) throw usernameTaken();
    const nowMs = clock.now();
    return {
      username,
      username_key: usernameKey(username),
      email: email ?? null,
      password_hash: await passwords.hash(user.password),
      is_active: Number(user.isActive ?? true),
      is_staff: Number(user.isStaff ?? false),
      is_superuser: Number(user.isSuperuser ?? false),
      created_at_ms: nowMs,
      password_changed_at_ms: nowMs,
    };
  }

  async #insert(session: Session<AccountTables>, row: NewRow): Promise<User> {
    try {
      return toUser(await insertUser(session, row));
    } catch (error) {
      if (error instanceof AppError && error.code === 'conflict') throw usernameTaken(error);
      throw error;
    }
  }

  async #verify(
    hasher: Hasher,
    { username, password }: Credentials,
    admits: (user: User) => boolean,
  ): Promise<User | undefined> {
    const row = await this.#rowByName(this.#parts.database, username);
    const isRight = await hasher.verify(row?.password_hash, password);
    const user = row && toUser(row);
    if (!user?.isActive || !isRight || !admits(user)) return undefined;
    await this.#updateHash(hasher, row as UserRow, password);
    return user;
  }

  async #updateHash(hasher: Hasher, row: UserRow, password: string): Promise<void> {
    const { passwords, database } = this.#parts;
    if (!passwords.needsRehash(row.password_hash)) return;
    const after = await hasher.hash(password);
    await replaceHash(database, { id: row.id, before: row.password_hash, after });
  }

  async #rowByName(session: Session<AccountTables>, username: string): Promise<UserRow | undefined> {
    const key = usernameKey(username);
    if (key.length > 2 * usernameCharactersMax || key.includes('\0') || !key.isWellFormed()) return undefined;
    return userByKey(session, key);
  }

  async #setPassword(user: User, password: string): Promise<void> {
    const { passwords, database, clock } = this.#parts;
    const hash = await passwords.hash(password);
    await setPasswordHash(database, { id: user.id, hash, nowMs: clock.now() });
  }
}

type NewRow = Omit<UserRow, 'id' | 'last_sign_in_at_ms'>;

const idMax = 2 ** 31 - 1;
