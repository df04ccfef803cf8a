import { isPassword, type Passwords } from '@octavo/core/passwords';
import { Lockout } from '@octavo/people/accounts';
import type { AccountPasswords } from '@octavo/people/sign-in';
import type { Caller, Context } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import type { AccountRow } from '../store/tables.ts';
import { accountByNumber } from './store.ts';
import type { BrowserSession } from './tokens.ts';
import { errors } from './user.ts';

interface OwnPasswordParts {
  readonly context: Context;
  readonly lockout: Lockout;
}

/** The count of wrong passwords of accounts. */
export function createLockout(
  { LOCKOUT_THRESHOLD: threshold, LOCKOUT_MS: lockMs }: { LOCKOUT_THRESHOLD: number; LOCKOUT_MS: number },
  { db: database, clock }: Context,
  passwords: Passwords,
): Lockout {
  return new Lockout({ database, passwords, clock, threshold, lockMs, locked: errors.locked });
}

/** The passwords of accounts, for what only their owners may do. */
export function ownPasswords(parts: OwnPasswordParts): AccountPasswords<BrowserSession> {
  const { db } = parts.context;
  return {
    async has(account) {
      const found = await accountByNumber(db, Number(account));
      return found !== undefined && isPassword(found.password_hash);
    },
    async check(_visit, account, password) {
      const owner = Number(account);
      const { id: userId } = (await accountByNumber(db, owner)) ?? {};
      if (userId === undefined) throw errors.unauthorized();
      await confirmPassword(parts, { owner, userId }, password);
    },
  };
}

/** Checks the password of a signed-in user. Wrong ones are counted apart from those of sign-ins. */
export async function confirmPassword(
  { context, lockout }: OwnPasswordParts,
  { owner, userId }: Caller,
  password: string | undefined,
): Promise<AccountRow> {
  if (password === undefined) throw invalid({ password: 'is required' });
  const account = await lockout.attempt(`account:${userId}`, async (hasher) => {
    const row = await accountByNumber(context.db, owner);
    // It may have been erased by another request since, and has no hash then.
    const found = row?.erased_at_ms === null ? row : undefined;
    return (await hasher.verify(found?.password_hash, password)) ? found : undefined;
  });
  if (!account) throw errors.wrongPassword();
  return account;
}
