import { randomInt } from 'node:crypto';
import type { Store, TotpRow, UserRow } from '../store/store.ts';

/** A secret that a code can match, and its user. */
export interface TotpCandidate extends TotpRow {
  readonly email: string;
  readonly verified: number;
  readonly totp_failures: number;
}

const buckets = 64;

/** Stores a pending secret in place of an earlier one. */
export function putPending(
  { kysely }: Store,
  given: { userId: string; secret: string; bearer: boolean; nowMs: number },
) {
  return kysely
    .insertInto('totp')
    .values({
      user_id: given.userId,
      state: 'pending',
      secret: given.secret,
      bearer: Number(given.bearer),
      last_step: 0,
      created_at_ms: given.nowMs,
    })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'state']).doUpdateSet({
        secret: given.secret,
        bearer: Number(given.bearer),
        created_at_ms: given.nowMs,
      }),
    )
    .execute();
}

/** All secrets of an address: the owner's first, then those of the other users, oldest first. */
export function secretsOf(session: Store, email: string): Promise<TotpCandidate[]> {
  return (
    session.kysely
      .selectFrom('user')
      .innerJoin('totp', 'totp.user_id', 'user.id')
      .selectAll('totp')
      .select(['email', 'verified', 'totp_failures'])
      .where('email', '=', email)
      .orderBy('verified', 'desc')
      .orderBy('user.created_at_ms')
      .orderBy('user.id')
      // Active before pending.
      .orderBy('state')
      .execute()
  );
}

/** Accepts a step once: steps only go forward. */
export function useStep({ kysely }: Store, userId: string, step: number) {
  return kysely
    .updateTable('totp')
    .set({ last_step: step })
    .where('user_id', '=', userId)
    .where('state', '=', 'active')
    .where('last_step', '<', step)
    .executeTakeFirst();
}

/** Makes the pending secret the active one. Run {@link deleteActive} before. */
export function confirmPending({ kysely }: Store, userId: string, step: number) {
  return kysely
    .updateTable('totp')
    .set({ state: 'active', last_step: step })
    .where('user_id', '=', userId)
    .where('state', '=', 'pending')
    .execute();
}

export function deleteActive({ kysely }: Store, userId: string) {
  return kysely.deleteFrom('totp').where('user_id', '=', userId).where('state', '=', 'active').execute();
}

export function deleteTotp({ kysely }: Store, userId: string) {
  return kysely.deleteFrom('totp').where('user_id', '=', userId).executeTakeFirst();
}

/**
 * Counts a wrong code for each of up to four users, or for a dummy row, which takes as long. Returns the users for whom it was the last one
 * allowed.
 */
export async function countMisses(
  session: Store,
  ids: readonly string[],
  allowed: number,
): Promise<Pick<UserRow, 'id' | 'email' | 'verified'>[]> {
  if (ids.length === 0) {
    await session.kysely
      .updateTable('totp_nobody')
      .set((eb) => ({ failures: eb('failures', '+', 1) }))
      .where('bucket', '=', randomInt(buckets))
      .execute();
    return [];
  }
  const [one = '', two = '', three = '', four = ''] = ids;
  const rows = await session.kysely
    .updateTable('user')
    .set((eb) => ({ totp_failures: eb('totp_failures', '+', 1) }))
    .where('id', 'in', [one, two, three, four])
    .returning(['id', 'email', 'verified', 'totp_failures'])
    .execute();
  return rows.filter(({ totp_failures: misses }) => misses === allowed);
}

export function clearMisses({ kysely }: Store, id: string) {
  return kysely.updateTable('user').set({ totp_failures: 0 }).where('id', '=', id).execute();
}

export function deletePendingSecrets({ kysely }: Store, beforeMs: number) {
  return kysely
    .deleteFrom('totp')
    .where('state', '=', 'pending')
    .where('created_at_ms', '<', beforeMs)
    .execute();
}
