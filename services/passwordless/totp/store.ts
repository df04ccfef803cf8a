import { randomInt } from 'node:crypto';
import { type Executor, statement } from '#kit/db/index.ts';
import type { Tables, TotpRow, UserRow } from '../store.ts';

/** A secret that a code can match, and its user. */
export interface TotpCandidate extends TotpRow {
  readonly email: string;
  readonly verified: number;
  readonly totp_failures: number;
}

const buckets = 64;

/** Stores a pending secret in place of an earlier one. */
export const putPending = statement<
  Tables,
  { userId: string; secret: string; bearer: boolean; nowMs: number }
>()((db, p) =>
  db
    .insertInto('totp')
    .values({
      user_id: p('userId'),
      state: 'pending',
      secret: p('secret'),
      bearer: p('bearer') as never,
      last_step: 0,
      created_at_ms: p('nowMs'),
    })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'state']).doUpdateSet({
        secret: p('secret'),
        bearer: p('bearer') as never,
        created_at_ms: p('nowMs'),
      }),
    ),
);

const candidates = statement<Tables, { email: string }>()((db, p) =>
  db
    .selectFrom('user')
    .innerJoin('totp', 'totp.user_id', 'user.id')
    .selectAll('totp')
    .select(['email', 'verified', 'totp_failures'])
    .where('email', '=', p('email'))
    .orderBy('verified', 'desc')
    .orderBy('user.created_at_ms')
    .orderBy('user.id')
    // Active before pending.
    .orderBy('state'),
);

/** All secrets of an address: the owner's first, then those of the other users, oldest first. */
export function secretsOf(session: Executor, email: string): Promise<TotpCandidate[]> {
  return candidates.all(session, { email });
}

/** Accepts a step once: steps only go forward. */
export const useStep = statement<Tables, { userId: string; step: number }>()((db, p) =>
  db
    .updateTable('totp')
    .set({ last_step: p('step') })
    .where('user_id', '=', p('userId'))
    .where('state', '=', 'active')
    .where('last_step', '<', p('step')),
);

/** Makes the pending secret the active one. Run {@link deleteActive} before. */
export const confirmPending = statement<Tables, { userId: string; step: number }>()((db, p) =>
  db
    .updateTable('totp')
    .set({ state: 'active', last_step: p('step') })
    .where('user_id', '=', p('userId'))
    .where('state', '=', 'pending'),
);

export const deleteActive = statement<Tables, { userId: string }>()((db, p) =>
  db.deleteFrom('totp').where('user_id', '=', p('userId')).where('state', '=', 'active'),
);

export const deleteTotp = statement<Tables, { userId: string }>()((db, p) =>
  db.deleteFrom('totp').where('user_id', '=', p('userId')),
);

const addMiss = statement<Tables, Record<'one' | 'two' | 'three' | 'four', string>>()((db, p) =>
  db
    .updateTable('user')
    .set((eb) => ({ totp_failures: eb('totp_failures', '+', 1) }))
    .where('id', 'in', [p('one'), p('two'), p('three'), p('four')])
    .returning(['id', 'email', 'verified', 'totp_failures']),
);

const countMissOfNobody = statement<Tables, { bucket: number }>()((db, p) =>
  db
    .updateTable('totp_nobody')
    .set((eb) => ({ failures: eb('failures', '+', 1) }))
    .where('bucket', '=', p('bucket')),
);

/**
 * Counts a wrong code for each of up to four users, or for a dummy row, which takes as long. Returns the users for whom it was the last one
 * allowed.
 */
export async function countMisses(
  session: Executor,
  ids: readonly string[],
  allowed: number,
): Promise<Pick<UserRow, 'id' | 'email' | 'verified'>[]> {
  if (ids.length === 0) {
    await countMissOfNobody.run(session, { bucket: randomInt(buckets) });
    return [];
  }
  const [one = '', two = '', three = '', four = ''] = ids;
  const rows = await addMiss.all(session, { one, two, three, four });
  return rows.filter(({ totp_failures: misses }) => misses === allowed);
}

export const clearMisses = statement<Tables, { id: string }>()((db, p) =>
  db.updateTable('user').set({ totp_failures: 0 }).where('id', '=', p('id')),
);

export const deletePendingSecrets = statement<Tables, { beforeMs: number }>()((db, p) =>
  db.deleteFrom('totp').where('state', '=', 'pending').where('created_at_ms', '<', p('beforeMs')),
);
