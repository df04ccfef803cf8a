import type { Insertable } from 'kysely';
import type { Store, Tables, UserRow } from '../store/store.ts';
import type { PendingKind, User } from './user.ts';

export async function findUser(session: Store, id: string): Promise<User | undefined> {
  const row = await session.kysely.selectFrom('user').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toUser(row);
}

/** All users of an address: its owner first, then the others, oldest first. */
export async function usersOf(session: Store, email: string): Promise<User[]> {
  const rows = await session.kysely
    .selectFrom('user')
    .selectAll()
    .where('email', '=', email)
    .orderBy('verified', 'desc')
    .orderBy('created_at_ms')
    .orderBy('id')
    .execute();
  return rows.map(toUser);
}

export function insertUser(
  { kysely }: Store,
  row: Omit<Insertable<Tables['user']>, 'totp_failures' | 'last_sign_in_at_ms'>,
) {
  return kysely
    .insertInto('user')
    .values({ ...row, totp_failures: 0, last_sign_in_at_ms: row.created_at_ms })
    .execute();
}

/** Makes the user the owner of the address. */
export function verifyUser({ kysely }: Store, id: string) {
  return kysely.updateTable('user').set({ verified: 1, pending_kind: null }).where('id', '=', id).execute();
}

/** Gives a pending user another day to prove a sign-in method. */
export function renewPending({ kysely }: Store, id: string, nowMs: number) {
  return kysely.updateTable('user').set({ created_at_ms: nowMs }).where('id', '=', id).execute();
}

/** Proves a user; of several attempts at once, only the winner changes a row. */
export function proveUser(
  { kysely }: Store,
  { id, kind, nowMs }: { id: string; kind: PendingKind; nowMs: number },
) {
  return kysely
    .updateTable('user')
    .set({ pending_kind: null, last_sign_in_at_ms: nowMs })
    .where('id', '=', id)
    .where('pending_kind', '=', kind)
    .executeTakeFirst();
}

/** Notes a sign-in. With `unblocks`, TOTP codes are accepted again. */
export function touchUser(
  { kysely }: Store,
  { id, nowMs, unblocks }: { id: string; nowMs: number; unblocks: boolean },
) {
  return kysely
    .updateTable('user')
    .set({ last_sign_in_at_ms: nowMs })
    .$if(unblocks, (touched) => touched.set({ totp_failures: 0 }))
    .where('id', '=', id)
    .execute();
}

export function deleteUser({ kysely }: Store, id: string) {
  return kysely.deleteFrom('user').where('id', '=', id).executeTakeFirst();
}

/** Users of an address without its owner who signed in before, and used nothing since then. The longest idle come first. */
export function idleUsers({ kysely }: Store, email: string, sinceMs: number) {
  return kysely
    .selectFrom('user')
    .select('id')
    .where('email', '=', email)
    .where('verified', '=', 0)
    .where('pending_kind', 'is', null)
    .where('last_sign_in_at_ms', '<=', sinceMs)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('session')
            .select('user_id')
            .whereRef('session.user_id', '=', 'user.id')
            .where('last_used_at_ms', '>', sinceMs),
        ),
      ),
    )
    .orderBy('last_sign_in_at_ms')
    .orderBy('id')
    .execute();
}

/** Users who never proved a sign-in method, or have none left: there is no way to sign in as them. */
export function deleteIdleUsers({ kysely }: Store, beforeMs: number) {
  return kysely
    .deleteFrom('user')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('user')
        .select('user.id')
        .where('verified', '=', 0)
        .where('created_at_ms', '<', beforeMs)
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
        .limit(500),
    )
    .execute();
}

export function toUser(row: UserRow): User {
  return {
    id: row.id,
    email: row.email,
    isVerified: row.verified === 1,
    pendingKind: row.pending_kind ?? undefined,
    totpFailures: row.totp_failures,
    createdMs: row.created_at_ms,
    lastSignInMs: row.last_sign_in_at_ms,
  };
}

/** Counts the sign-in methods of a user, besides links. */
export function factorsOf({ kysely }: Store, userId: string) {
  return kysely
    .selectNoFrom((eb) => [
      eb
        .selectFrom('totp')
        .select(eb.fn.countAll<number>().as('n'))
        .where('user_id', '=', userId)
        .where('state', '=', 'active')
        .$asScalar()
        .$notNull()
        .as('totp'),
      eb
        .selectFrom('passkey')
        .select(eb.fn.countAll<number>().as('n'))
        .where('user_id', '=', userId)
        .$asScalar()
        .$notNull()
        .as('passkeys'),
      eb
        .selectFrom('recovery_code')
        .select(eb.fn.countAll<number>().as('n'))
        .where('user_id', '=', userId)
        .$asScalar()
        .$notNull()
        .as('recovery_codes'),
    ])
    .executeTakeFirst();
}

/**
 * Returns true if the user can sign in: by a link to their own address, a passkey or TOTP. Recovery codes do not count, as they
 * run out.
 */
export async function canSignIn(session: Store, user: User): Promise<boolean> {
  if (user.isVerified) return true;
  const { totp = 0, passkeys = 0 } = (await factorsOf(session, user.id)) ?? {};
  return totp > 0 || passkeys > 0;
}

export function insertFailure({ kysely }: Store, row: Insertable<Tables['failed_attempt']>) {
  return kysely.insertInto('failed_attempt').values(row).execute();
}

/** Time of the failure before the last `skipped` ones until then. A null network means any. */
export function nthLastFailure(
  { kysely }: Store,
  given: Record<'kind' | 'addressKey', string> & { network: string | null; untilMs: number; skipped: number },
) {
  return kysely
    .selectFrom('failed_attempt')
    .select('at_ms')
    .where('address_key', '=', given.addressKey)
    .where('kind', '=', given.kind)
    .where('at_ms', '<=', given.untilMs)
    .where((eb) => eb('network', '=', eb.fn.coalesce(eb.val(given.network), 'network')))
    .orderBy('at_ms', 'desc')
    .limit(1)
    .offset(given.skipped)
    .executeTakeFirst();
}

/** A null network means any. */
export function deleteFailures(
  { kysely }: Store,
  given: Record<'addressKey' | 'keptKind', string> & { network: string | null },
) {
  return kysely
    .deleteFrom('failed_attempt')
    .where('address_key', '=', given.addressKey)
    .where('kind', '<>', given.keptKind)
    .where((eb) => eb('network', '=', eb.fn.coalesce(eb.val(given.network), 'network')))
    .execute();
}

/** Deletes at most 500. */
export function deleteFailuresOutside({ kysely }: Store, fromMs: number, untilMs: number) {
  return kysely
    .deleteFrom('failed_attempt')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('failed_attempt')
        .select('id')
        .where((each) => each.or([each('at_ms', '<', fromMs), each('at_ms', '>', untilMs)]))
        .limit(500),
    )
    .execute();
}
