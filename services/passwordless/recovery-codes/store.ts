import type { Store } from '../store/store.ts';

export function deleteRecoveryCodes({ kysely }: Store, userId: string) {
  return kysely.deleteFrom('recovery_code').where('user_id', '=', userId).execute();
}

export function insertRecoveryCode(
  { kysely }: Store,
  { hash, userId, nowMs }: { hash: string; userId: string; nowMs: number },
) {
  return kysely.insertInto('recovery_code').values({ hash, user_id: userId, created_at_ms: nowMs }).execute();
}

/** Deletes a code of any user of the address. Of several requests at once, only the winner gets a row. */
export function takeRecoveryCode(
  { kysely }: Store,
  { hash, previousHash, email }: Record<'hash' | 'previousHash' | 'email', string>,
) {
  return kysely
    .deleteFrom('recovery_code')
    .where('hash', 'in', [hash, previousHash])
    .where('user_id', 'in', (eb) => eb.selectFrom('user').select('id').where('email', '=', email))
    .returning('user_id')
    .executeTakeFirst();
}
