import { statement } from '#kit/db/index.ts';
import type { Tables } from './tables.ts';

/** Slices, so that no write takes long; what is left is for the next round. */
const slice = 500;
/** A session takes its tokens along. */
const sessionSlice = 50;

export const deleteOldSessionsBefore = statement<Tables, { beforeMs: number }>((db, p) =>
  db
    .deleteFrom('session')
    .where('id', 'in', (eb) =>
      eb.selectFrom('session').select('id').where('expires_at_ms', '<', p('beforeMs')).limit(sessionSlice),
    ),
);

/** Users who never proved anything, or have lost all that they had: nobody can sign in as them. */
export const deleteIdleUsers = statement<Tables, { beforeMs: number }>((db, p) =>
  db.deleteFrom('user').where('id', 'in', (eb) =>
    eb
      .selectFrom('user')
      .select('user.id')
      .where('verified', '=', 0)
      .where('created_at_ms', '<', p('beforeMs'))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('totp')
              .select('user_id')
              .whereRef('totp.user_id', '=', 'user.id')
              .where('state', '=', 'active'),
          ),
        ),
      )
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('passkey').select('user_id').whereRef('passkey.user_id', '=', 'user.id'))),
      )
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('session').select('user_id').whereRef('session.user_id', '=', 'user.id'))),
      )
      .limit(slice),
  ),
);

export const deleteOldPending = statement<Tables, { beforeMs: number }>((db, p) =>
  db.deleteFrom('totp').where('state', '=', 'pending').where('created_at_ms', '<', p('beforeMs')),
);

export const deleteOldEvents = statement<Tables, { beforeMs: number }>((db, p) =>
  db
    .deleteFrom('audit_event')
    .where('id', 'in', (eb) =>
      eb.selectFrom('audit_event').select('id').where('at_ms', '<', p('beforeMs')).limit(slice),
    ),
);
