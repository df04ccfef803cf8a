import { statement } from '#kit/db/index.ts';
import type { Tables } from '../store.ts';

export const deleteRecoveryCodes = statement<Tables, { userId: string }>()((db, p) =>
  db.deleteFrom('recovery_code').where('user_id', '=', p('userId')),
);

export const insertRecoveryCode = statement<Tables, { hash: string; userId: string; nowMs: number }>()(
  (db, p) =>
    db
      .insertInto('recovery_code')
      .values({ hash: p('hash'), user_id: p('userId'), created_at_ms: p('nowMs') }),
);

/** Deletes a code of any user of the address. Of several requests at once, only the winner gets a row. */
export const takeRecoveryCode = statement<Tables, Record<'hash' | 'previousHash' | 'email', string>>()(
  (db, p) =>
    db
      .deleteFrom('recovery_code')
      .where('hash', 'in', [p('hash'), p('previousHash')])
      .where('user_id', 'in', (eb) => eb.selectFrom('user').select('id').where('email', '=', p('email')))
      .returning('user_id'),
);
