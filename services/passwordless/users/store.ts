import { type Executor, statement } from '#kit/db/index.ts';
import type { Tables, UserRow } from '../store.ts';
import type { PendingKind, User } from './user.ts';

const byId = statement<Tables, { id: string }>()((db, p) =>
  db.selectFrom('user').selectAll().where('id', '=', p('id')),
);

const byEmail = statement<Tables, { email: string }>()((db, p) =>
  db
    .selectFrom('user')
    .selectAll()
    .where('email', '=', p('email'))
    .orderBy('verified', 'desc')
    .orderBy('created_at_ms')
    .orderBy('id'),
);

export async function findUser(session: Executor, id: string): Promise<User | undefined> {
  const row = await byId.first(session, { id });
  return row && toUser(row);
}

/** All users of an address: its owner first, then the others, oldest first. */
export async function usersOf(session: Executor, email: string): Promise<User[]> {
  return (await byEmail.all(session, { email })).map(toUser);
}

export const insertUser = statement<
  Tables,
  Record<'id' | 'email', string> & { verified: boolean; kind: PendingKind | null; nowMs: number }
>()((db, p) =>
  db.insertInto('user').values({
    id: p('id'),
    email: p('email'),
    verified: p('verified') as never,
    pending_kind: p('kind'),
    totp_failures: 0,
    created_at_ms: p('nowMs'),
    last_sign_in_at_ms: p('nowMs'),
  }),
);

/** Makes the user the owner of the address. */
export const verifyUser = statement<Tables, { id: string }>()((db, p) =>
  db.updateTable('user').set({ verified: 1, pending_kind: null }).where('id', '=', p('id')),
);

/** Gives a pending user another day to prove a sign-in method. */
export const renewPending = statement<Tables, { id: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('user')
    .set({ created_at_ms: p('nowMs') })
    .where('id', '=', p('id')),
);

/** Of several attempts at once, only the winner changes a row. */
export const proveUser = statement<Tables, { id: string; kind: PendingKind; nowMs: number }>()((db, p) =>
  db
    .updateTable('user')
    .set({ pending_kind: null, last_sign_in_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('pending_kind', '=', p('kind')),
);

export const touchUser = statement<Tables, { id: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('user')
    .set({ last_sign_in_at_ms: p('nowMs') })
    .where('id', '=', p('id')),
);

/** Like {@link touchUser}. Also accepts TOTP codes again. */
export const touchAndUnblockUser = statement<Tables, { id: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('user')
    .set({ last_sign_in_at_ms: p('nowMs'), totp_failures: 0 })
    .where('id', '=', p('id')),
);

export const deleteUser = statement<Tables, { id: string }>()((db, p) =>
  db.deleteFrom('user').where('id', '=', p('id')),
);

/** Users of an address without its owner who signed in before, and used nothing since then. The longest idle come first. */
export const idleUsers = statement<Tables, { email: string; sinceMs: number }>()((db, p) =>
  db
    .selectFrom('user')
    .select('id')
    .where('email', '=', p('email'))
    .where('verified', '=', 0)
    .where('pending_kind', 'is', null)
    .where('last_sign_in_at_ms', '<=', p('sinceMs'))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('session')
            .select('user_id')
            .whereRef('session.user_id', '=', 'user.id')
            .where('last_used_at_ms', '>', p('sinceMs')),
        ),
      ),
    )
    .orderBy('last_sign_in_at_ms')
    .orderBy('id'),
);

/** Users who never proved a sign-in method, or have none left: nobody can sign in as them. */
export const deleteIdleUsers = statement<Tables, { beforeMs: number }>()((db, p) =>
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
      .limit(500),
  ),
);

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
export const factorsOf = statement<Tables, { userId: string }>()((db, p) =>
  db.selectNoFrom((eb) => [
    eb
      .selectFrom('totp')
      .select(eb.fn.countAll<number>().as('n'))
      .where('user_id', '=', p('userId'))
      .where('state', '=', 'active')
      .$asScalar()
      .$notNull()
      .as('totp'),
    eb
      .selectFrom('passkey')
      .select(eb.fn.countAll<number>().as('n'))
      .where('user_id', '=', p('userId'))
      .$asScalar()
      .$notNull()
      .as('passkeys'),
    eb
      .selectFrom('recovery_code')
      .select(eb.fn.countAll<number>().as('n'))
      .where('user_id', '=', p('userId'))
      .$asScalar()
      .$notNull()
      .as('recovery_codes'),
  ]),
);

/** Whether the user can sign in: by a link to their own address, a passkey or TOTP. Recovery codes do not count, as they run out. */
export async function canSignIn(session: Executor, user: User): Promise<boolean> {
  if (user.isVerified) return true;
  const { totp = 0, passkeys = 0 } = (await factorsOf.first(session, { userId: user.id })) ?? {};
  return totp > 0 || passkeys > 0;
}

export const insertFailure = statement<
  Tables,
  Record<'id' | 'kind' | 'addressKey' | 'network', string> & { nowMs: number }
>()((db, p) =>
  db.insertInto('failed_attempt').values({
    id: p('id'),
    kind: p('kind'),
    address_key: p('addressKey'),
    network: p('network'),
    at_ms: p('nowMs'),
  }),
);

/** Time of the failure before the last `skipped` ones until then. A null network means any. */
export const nthLastFailure = statement<
  Tables,
  Record<'kind' | 'addressKey', string> & { network: string | null; untilMs: number; skipped: number }
>()((db, p) =>
  db
    .selectFrom('failed_attempt')
    .select('at_ms')
    .where('address_key', '=', p('addressKey'))
    .where('kind', '=', p('kind'))
    .where('at_ms', '<=', p('untilMs'))
    .where((eb) => eb('network', '=', eb.fn.coalesce(p('network'), 'network')))
    .orderBy('at_ms', 'desc')
    .limit(1)
    .offset(p('skipped')),
);

/** A null network means any. */
export const deleteFailures = statement<
  Tables,
  Record<'addressKey' | 'keptKind', string> & { network: string | null }
>()((db, p) =>
  db
    .deleteFrom('failed_attempt')
    .where('address_key', '=', p('addressKey'))
    .where('kind', '<>', p('keptKind'))
    .where((eb) => eb('network', '=', eb.fn.coalesce(p('network'), 'network'))),
);

/** Deletes at most 500. */
export const deleteFailuresOutside = statement<Tables, { fromMs: number; untilMs: number }>()((db, p) =>
  db.deleteFrom('failed_attempt').where('id', 'in', (eb) =>
    eb
      .selectFrom('failed_attempt')
      .select('id')
      .where((each) => each.or([each('at_ms', '<', p('fromMs')), each('at_ms', '>', p('untilMs'))]))
      .limit(500),
  ),
);
