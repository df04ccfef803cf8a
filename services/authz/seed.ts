import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keptSecret } from '#kit/auth/kept-secret.ts';
import type { Passwords } from '#kit/auth/passwords.ts';
import type { Clock } from '#kit/clock.ts';
import type { Database } from '#kit/db/index.ts';
import { newSecret } from '#kit/ids.ts';
import type { Log } from '#kit/log.ts';
import type { DemoSignIn } from '#kit/service.ts';
import { type Role, roles } from './account.ts';
import { findByUsername, insertDemoAccount, replaceHash, type StoredAccount, type Tables } from './store.ts';

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
 * One account a role, uid 1, 2, 3, named like the role. Gives those whose password is known here: it was given, or this
 * data folder made it. Several replicas may do this at the same moment.
 */
export async function seedDemoAccounts(options: SeedOptions): Promise<DemoSignIn[]> {
  const signIns: DemoSignIn[] = [];
  // One after another: a hash takes 19 MiB, which the process would not give back.
  for (const role of roles) {
    const given = options.given[role];
    const known = given ? await seedGiven(options, role, given) : await seedKept(options, role);
    if (known) signIns.push(known);
  }
  return signIns;
}

async function seedGiven(
  options: SeedOptions,
  role: Role,
  password: string,
): Promise<DemoSignIn | undefined> {
  const { database, passwords, log } = options;
  const known = await findByUsername(database, role);
  if (known && !known.demo) {
    log.warn({ username: role }, 'this account has a password of its own: the demo password is not used');
    return undefined;
  }
  if (known && (await passwords.verify(known.passwordHash, password))) return signIn(known, password);
  const after = await passwords.hash(password);
  const account = known ?? (await makeAccount(options, role, after));
  if (!account?.demo) return undefined;
  if (account.passwordHash !== after) {
    await replaceHash.run(database, { uid: account.uid, before: account.passwordHash, after });
  }
  return signIn(account, password);
}

async function seedKept(options: SeedOptions, role: Role): Promise<DemoSignIn | undefined> {
  const { database, passwords, dataFolder, log } = options;
  const file = join(dataFolder, `authz-demo-${role}.json`);
  const known = await findByUsername(database, role);
  if (!known) await keptSecret(file, () => newKept(passwords));
  const kept = await readKept(file);
  const account = known ?? (kept && (await makeAccount(options, role, kept.passwordHash)));
  if (kept && account && (await isInForce(passwords, account, kept))) return signIn(account, kept.password);
  log.info({ username: role }, 'the password of this account was set elsewhere');
  return undefined;
}

/** The account as it is now, whoever made it; none where the uid is somebody else's. */
async function makeAccount(
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

interface Kept {
  readonly password: string;
  /** Tells without hashing again whether the password is still in force. */
  readonly passwordHash: string;
}

async function isInForce(passwords: Passwords, account: StoredAccount, kept: Kept): Promise<boolean> {
  return account.passwordHash === kept.passwordHash || passwords.verify(account.passwordHash, kept.password);
}

async function newKept(passwords: Passwords): Promise<string> {
  const password = newSecret(12);
  const kept: Kept = { password, passwordHash: await passwords.hash(password) };
  return JSON.stringify(kept, null, 2);
}

async function readKept(file: string): Promise<Kept | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read; without it, the demo account keeps its password`, {
      cause: error,
    });
  }
}
