import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newOrderedId, newSecret } from '@octavo/core';
import { storedSecret } from '@octavo/core/auth';
import type { Passwords } from '@octavo/core/passwords';
import type { DemoSignIn } from '@octavo/data/service';
import type { Caller, Context } from '../commands.ts';
import { accountByEmail, accountsOfDomain, insertAccount, verifyAddress } from './store.ts';

const email = 'demo@example.com';
/** Domain of the demo people of the suite, whom the portal signs in. */
const suiteDomain = 'demo.example';
/** Holds the password of the demo account, in the data folder. */
export const demoFile = 'budgets-demo.json';

interface StoredPassword {
  readonly password: string;
  /** Shows without hashing again whether the password is still in use. */
  readonly passwordHash: string;
}

/**
 * The account of the demo data, which is created at the first call, with a random password that is kept in the data folder; undefined
 * if the address belongs to another account.
 */
export async function createDemoAccount(
  { db, clock }: Context,
  { passwords, dataFolder }: { readonly passwords: Passwords; readonly dataFolder: string },
): Promise<Caller | undefined> {
  const file = join(dataFolder, demoFile);
  const known = await accountByEmail(db, email);
  // Without the file, it was not created here: a person registered with the address.
  if (known) return (await readStored(file)) && { owner: known.number, userId: known.id };
  const { passwordHash } = JSON.parse(
    await storedSecret(file, () => newPassword(passwords)),
  ) as StoredPassword;
  const account = { id: newOrderedId(), email, username: 'Demo', passwordHash, nowMs: clock.now() };
  await db.write(async (session) => {
    const added = await insertAccount(session, account);
    if (added) await verifyAddress(session, { owner: added.number, email, nowMs: account.nowMs });
  });
  const created = await accountByEmail(db, email);
  if (!created) throw new Error('the demo account was deleted while it was created');
  return { owner: created.number, userId: created.id };
}

/** The demo account, if it is there and has the password that is kept in the data folder. */
export async function demoSignIns({ db }: Pick<Context, 'db'>, dataFolder: string): Promise<DemoSignIn[]> {
  const stored = await readStored(join(dataFolder, demoFile));
  const account = stored && (await accountByEmail(db, email));
  if (!account || account.password_hash !== stored.passwordHash) return [];
  return [{ username: email, password: stored.password, role: 'budgets' }];
}

/** Accounts of the demo people of the suite who have signed in here. */
export async function demoPeople({ db }: Pick<Context, 'db'>): Promise<Caller[]> {
  const accounts = await accountsOfDomain(db, suiteDomain);
  return accounts.map(({ number, id }) => ({ owner: number, userId: id }));
}

/** True for the address of a demo person of the suite, if demo data was loaded into this folder. */
export async function getsDemoData(address: string, dataFolder: string): Promise<boolean> {
  return address.endsWith(`@${suiteDomain}`) && (await readStored(join(dataFolder, demoFile))) !== undefined;
}

async function newPassword(passwords: Passwords): Promise<string> {
  const password = newSecret(12);
  return JSON.stringify({ password, passwordHash: await passwords.hash(password) });
}

async function readStored(file: string): Promise<StoredPassword | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
