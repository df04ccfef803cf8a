import type { Executor } from '#kit/db/index.ts';
import { factorsOf } from './store-factors.ts';
import type { User } from './user.ts';

/** Whether a user can sign in: by a link to an address that is theirs, a passkey or TOTP. Recovery codes run out. */
export async function hasWayIn(session: Executor, user: User): Promise<boolean> {
  if (user.isVerified) return true;
  const { totp = 0, passkeys = 0 } = (await factorsOf.first(session, { userId: user.id })) ?? {};
  return totp > 0 || passkeys > 0;
}
