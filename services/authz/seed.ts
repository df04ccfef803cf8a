import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Log } from '@octavo/core';
import { newSecret } from '@octavo/core';
import { storedSecret } from '@octavo/core/auth';
import type { Passwords } from '@octavo/core/passwords';
import type { Database } from '@octavo/data';
import type { DemoSignIn } from '@octavo/data/service';
import { type Role, roles } from '@octavo/protocols/authz/v1/permissions';
import {
  findByUsername,
  insertDemoAccount,
  replacePassword,
  type StoredAccount,
  type Tables,
} from './store.ts';

export interface SeedOptions {
  readonly database: Database<Tables>;
  readonly passwords: Passwords;
  readonly clock: Clock;
  readonly log: Log;
  readonly dataFolder: string;
  /** Passwords from the settings. */
  readonly given: Readonly<Record<Role, string | undefined>>;
}

/**
 * Creates one account per role, with uid 1, 2, 3 and the role's name. Returns those whose password is known here: from a
 * setting, or from a file in this data folder. Several replicas may do this at the same time.
 */
export async function seedDemoAccounts(options: SeedOptions): Promise<DemoSignIn[]> {
  const signIns: DemoSignIn[] = [];
  // One after another: a hash takes 19 MiB, which the process would not give back.
  for (const role of roles) {
    const given = options.given[role];
    const known = given ? await seedConfigured(options, role, given) : await seedStored(options, role);
    if (known) signIns.push(known);
  }
  return signIns;
}

async function seedConfigured(
  options: SeedOptions,
  role: Role,
  password: string,
): Promise<DemoSignIn | undefined> {
  const { database, passwords, clock, log } = options;
  const known = await findByUsername(database, role);
  if (known && !known.demo) {
    log.warn({ username: role }, 'this account has its own password; the demo password is not used');
    return undefined;
  }
  if (known && (await passwords.verify(known.passwordHash, password))) return signIn(known, password);
  const after = await passwords.hash(password);
  const account = known ?? (await ensureAccount(options, role, after));
  if (!account?.demo) return undefined;
  if (account.passwordHash !== after) {
    const { uid, passwordHash: before } = account;
    await replacePassword(database, { uid, before, after, demo: 1, nowMs: clock.now() });
  }
  return signIn(account, password);
}

async function seedStored(options: SeedOptions, role: Role): Promise<DemoSignIn | undefined> {
  const { database, passwords, dataFolder, log } = options;
  const file = join(dataFolder, `authz-demo-${role}.json`);
  const known = await findByUsername(database, role);
  if (!known) await storedSecret(file, () => newStoredPassword(passwords));
  const stored = await readStoredPassword(file);
  const account = known ?? (stored && (await ensureAccount(options, role, stored.passwordHash)));
  if (stored && account && (await isCurrent(passwords, account, stored)))
    return signIn(account, stored.password);
  log.info({ username: role }, 'this account has a password that was set elsewhere');
  return undefined;
}

/** The stored account, whichever replica created it; undefined if another account has the uid. */
async function ensureAccount(
  { database, clock }: SeedOptions,
  role: Role,
  passwordHash: string,
): Promise<StoredAccount | undefined> {
  const account = {
    uid: roles.indexOf(role) + 1,
    username: role,
    role,
    passwordHash,
    createdAtMs: clock.now(),
  };
  await database.write((session) => insertDemoAccount(session, account));
  return findByUsername(database, role);
}

function signIn({ username, role }: StoredAccount, password: string): DemoSignIn {
  return { username, password, role };
}

interface StoredPassword {
  readonly password: string;
  /** Shows without hashing again whether the password is still in use. */
  readonly passwordHash: string;
}

async function isCurrent(
  passwords: Passwords,
  account: StoredAccount,
  stored: StoredPassword,
): Promise<boolean> {
  return (
    account.passwordHash === stored.passwordHash || passwords.verify(account.passwordHash, stored.password)
  );
}

async function newStoredPassword(passwords: Passwords): Promise<string> {
  const password = newSecret(12);
  const stored: StoredPassword = { password, passwordHash: await passwords.hash(password) };
  return JSON.stringify(stored, null, 2);
}

async function readStoredPassword(file: string): Promise<StoredPassword | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read; without it, the demo account keeps its password`, {
      cause: error,
    });
  }
}
