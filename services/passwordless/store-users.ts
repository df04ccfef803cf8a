import { type Executor, statement } from '#kit/db/index.ts';
import type { Tables, UserRow } from './tables.ts';
import type { PendingKind, User } from './user.ts';

const byId = statement<Tables, { id: string }, UserRow>((db, p) =>
  db.selectFrom('user').selectAll().where('id', '=', p('id')),
);

const byEmail = statement<Tables, { email: string }, UserRow>((db, p) =>
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

/** Everybody who wears an address: first the one whom it belongs to, then the others, oldest first. */
export async function usersOf(session: Executor, email: string): Promise<User[]> {
  return (await byEmail.all(session, { email })).map(toUser);
}

export const insertUser = statement<
  Tables,
  Record<'id' | 'email', string> & { verified: boolean; kind: PendingKind | null; nowMs: number }
>((db, p) =>
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

/** From now on the address is theirs. */
export const verifyUser = statement<Tables, { id: string }>((db, p) =>
  db.updateTable('user').set({ verified: 1, pending_kind: null }).where('id', '=', p('id')),
);

/** Gives a user who is about to prove a factor another day for it. */
export const renewPending = statement<Tables, { id: string; nowMs: number }>((db, p) =>
  db
    .updateTable('user')
    .set({ created_at_ms: p('nowMs') })
    .where('id', '=', p('id')),
);

/** Of several that prove their first factor at once, one wins: that changes a row. */
export const proveUser = statement<Tables, { id: string; kind: PendingKind; nowMs: number }>((db, p) =>
  db
    .updateTable('user')
    .set({ pending_kind: null, last_sign_in_at_ms: p('nowMs') })
    .where('id', '=', p('id'))
    .where('pending_kind', '=', p('kind')),
);

export const touchUser = statement<Tables, { id: string; nowMs: number }>((db, p) =>
  db
    .updateTable('user')
    .set({ last_sign_in_at_ms: p('nowMs') })
    .where('id', '=', p('id')),
);

/** As {@link touchUser}, and TOTP codes are taken again. */
export const touchAndUnblockUser = statement<Tables, { id: string; nowMs: number }>((db, p) =>
  db
    .updateTable('user')
    .set({ last_sign_in_at_ms: p('nowMs'), totp_failures: 0 })
    .where('id', '=', p('id')),
);

export const deleteUser = statement<Tables, { id: string }>((db, p) =>
  db.deleteFrom('user').where('id', '=', p('id')),
);

function toUser(row: UserRow): User {
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
