import type { Insertable } from 'kysely';
import type { Store, Tables } from '../tables.ts';

/** A user who is signed in. */
export interface Reader {
  readonly id: number;
  readonly username: string;
  readonly isStaff: 0 | 1;
}

export function insertFamily(
  { kysely }: Store,
  row: Omit<Insertable<Tables['token_family']>, 'generation' | 'is_revoked'>,
) {
  return kysely
    .insertInto('token_family')
    .values({ ...row, generation: 0, is_revoked: 0 })
    .execute();
}

/** Exchanges the active token of a family: one winner among parallel requests. */
export function rotateFamily(
  { kysely }: Store,
  given: { id: string; generation: number; nowMs: number; expiresAtMs: number; bornAfterMs: number },
) {
  return kysely
    .updateTable('token_family')
    .set((e) => ({
      generation: e('generation', '+', 1),
      rotated_at_ms: given.nowMs,
      expires_at_ms: given.expiresAtMs,
    }))
    .where('id', '=', given.id)
    .where('generation', '=', given.generation)
    .where('is_revoked', '=', 0)
    .where('expires_at_ms', '>', given.nowMs)
    .where('created_at_ms', '>', given.bornAfterMs)
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
    .returning('user_id as userId')
    .executeTakeFirst();
}

export function familyOf({ kysely }: Store, id: string) {
  return kysely
    .selectFrom('token_family')
    .select(['user_id as userId', 'generation', 'rotated_at_ms as rotatedAtMs', 'is_revoked as isRevoked'])
    .where('id', '=', id)
    .executeTakeFirst();
}

export function revokeFamily({ kysely }: Store, id: string) {
  return kysely
    .updateTable('token_family')
    .set({ is_revoked: 1 })
    .where('id', '=', id)
    .where('is_revoked', '=', 0)
    .executeTakeFirst();
}

/** The user of a family whose tokens count: not revoked or expired, active, and with the password of that time. */
export function activeReader({ kysely }: Store, id: string, nowMs: number) {
  return kysely
    .selectFrom('token_family')
    .innerJoin('auth_user', 'auth_user.id', 'token_family.user_id')
    .select(['auth_user.id', 'auth_user.username', 'auth_user.is_staff as isStaff'])
    .where('token_family.id', '=', id)
    .where('token_family.is_revoked', '=', 0)
    .where('token_family.expires_at_ms', '>', nowMs)
    .where('auth_user.is_active', '=', 1)
    .whereRef('auth_user.password_changed_at_ms', '<=', 'token_family.created_at_ms')
    .$castTo<Reader>()
    .executeTakeFirst();
}

export function deleteExpired({ kysely }: Store, nowMs: number) {
  return kysely.deleteFrom('token_family').where('expires_at_ms', '<=', nowMs).execute();
}
