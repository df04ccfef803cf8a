import { statement } from '#kit/db/index.ts';
import type { Tables } from '../tables.ts';

/** Somebody who is signed in. */
export interface Reader {
  readonly id: number;
  readonly username: string;
  readonly isStaff: 0 | 1;
}

export const insertFamily = statement<
  Tables,
  { id: string; userId: number; nowMs: number; expiresAtMs: number }
>()((db, p) =>
  db.insertInto('token_family').values({
    id: p('id'),
    user_id: p('userId'),
    generation: 0,
    rotated_at_ms: null,
    created_at_ms: p('nowMs'),
    expires_at_ms: p('expiresAtMs'),
    is_revoked: 0,
  }),
);

/** Exchanges the active token of a family: one winner among parallel requests. */
export const rotateFamily = statement<
  Tables,
  { id: string; generation: number; nowMs: number; expiresAtMs: number; bornAfterMs: number }
>()((db, p) =>
  db
    .updateTable('token_family')
    .set((e) => ({
      generation: e('generation', '+', 1),
      rotated_at_ms: p('nowMs'),
      expires_at_ms: p('expiresAtMs'),
    }))
    .where('id', '=', p('id'))
    .where('generation', '=', p('generation'))
    .where('is_revoked', '=', 0)
    .where('expires_at_ms', '>', p('nowMs'))
    .where('created_at_ms', '>', p('bornAfterMs'))
    .where((e) =>
      e.exists(
        e
          .selectFrom('auth_user')
          .select('auth_user.id')
          .whereRef('auth_user.id', '=', 'token_family.user_id')
          .where('is_active', '=', 1)
          .whereRef('password_changed_at_ms', '<=', 'token_family.created_at_ms'),
      ),
    )
    .returning('user_id as userId'),
);

export const familyOf = statement<Tables, { id: string }>()((db, p) =>
  db
    .selectFrom('token_family')
    .select(['user_id as userId', 'generation', 'rotated_at_ms as rotatedAtMs', 'is_revoked as isRevoked'])
    .where('id', '=', p('id')),
);

export const revokeFamily = statement<Tables, { id: string }>()((db, p) =>
  db.updateTable('token_family').set({ is_revoked: 1 }).where('id', '=', p('id')).where('is_revoked', '=', 0),
);

/** The user of a family whose tokens count: not revoked or expired, active, and with the password of that time. */
export const activeReader = statement<Tables, { id: string; nowMs: number }>()((db, p) =>
  db
    .selectFrom('token_family')
    .innerJoin('auth_user', 'auth_user.id', 'token_family.user_id')
    .select(['auth_user.id', 'auth_user.username', 'auth_user.is_staff as isStaff'])
    .where('token_family.id', '=', p('id'))
    .where('token_family.is_revoked', '=', 0)
    .where('token_family.expires_at_ms', '>', p('nowMs'))
    .where('auth_user.is_active', '=', 1)
    .whereRef('auth_user.password_changed_at_ms', '<=', 'token_family.created_at_ms')
    .$castTo<Reader>(),
);

export const deleteExpired = statement<Tables, { nowMs: number }>()((db, p) =>
  db.deleteFrom('token_family').where('expires_at_ms', '<=', p('nowMs')),
);
