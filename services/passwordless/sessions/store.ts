import { type Executor, statement } from '#kit/db/index.ts';
import type { SessionRow, Tables } from '../store.ts';
import type { Method, Session } from './session.ts';

const byId = statement<Tables, { id: string }>()((db, p) =>
  db.selectFrom('session').selectAll().where('id', '=', p('id')),
);

const live = statement<Tables, { userId: string; nowMs: number }>()((db, p) =>
  db
    .selectFrom('session')
    .selectAll()
    .where('user_id', '=', p('userId'))
    .where('expires_at_ms', '>', p('nowMs'))
    .orderBy('authenticated_at_ms', 'desc')
    .orderBy('id'),
);

export async function findSession(session: Executor, id: string): Promise<Session | undefined> {
  const row = await byId.first(session, { id });
  return row && toSession(row);
}

/** Sessions that have not expired, newest first. */
export async function sessionsOf(session: Executor, userId: string, nowMs: number): Promise<Session[]> {
  return (await live.all(session, { userId, nowMs })).map(toSession);
}

export const insertSession = statement<
  Tables,
  Record<'id' | 'userId' | 'amr' | 'address' | 'userAgent', string> & { nowMs: number; expiresMs: number }
>()((db, p) =>
  db.insertInto('session').values({
    id: p('id'),
    user_id: p('userId'),
    amr: p('amr'),
    authenticated_at_ms: p('nowMs'),
    last_used_at_ms: p('nowMs'),
    expires_at_ms: p('expiresMs'),
    generation: 1,
    rotated_at_ms: null,
    address: p('address'),
    user_agent: p('userAgent'),
  }),
);

export const insertToken = statement<Tables, { hash: string; sessionId: string; generation: number }>()(
  (db, p) =>
    db
      .insertInto('refresh_token')
      .values({ hash: p('hash'), session_id: p('sessionId'), generation: p('generation') }),
);

interface Rotation extends Record<'nowMs' | 'expiresMs' | 'sessionMs', number> {
  readonly hash: string;
}

/**
 * Moves a session to its next generation if the token is the active one and has not expired. Of several requests with the same token one
 * wins, because each checks the generation again once it holds the row.
 */
const rotate = statement<Tables, Rotation>()((db, p) =>
  db
    .updateTable('session')
    .set((eb) => ({
      generation: eb('generation', '+', 1),
      rotated_at_ms: p('nowMs'),
      last_used_at_ms: p('nowMs'),
      expires_at_ms: eb
        .case()
        .when(eb('authenticated_at_ms', '+', p('sessionMs')), '<', p('expiresMs'))
        .then(eb('authenticated_at_ms', '+', p('sessionMs')))
        .else(p('expiresMs'))
        .end(),
    }))
    .where('id', '=', (eb) =>
      eb.selectFrom('refresh_token').select('session_id').where('hash', '=', p('hash')),
    )
    .where('generation', '=', (eb) =>
      eb.selectFrom('refresh_token').select('refresh_token.generation').where('hash', '=', p('hash')),
    )
    .where('expires_at_ms', '>', p('nowMs'))
    .returningAll(),
);

/** The session in its new generation; undefined if the token is not the active one. */
export async function rotateSession(session: Executor, rotation: Rotation): Promise<Session | undefined> {
  const row = await rotate.first(session, rotation);
  return row && toSession(row);
}

const byToken = statement<Tables, { hash: string }>()((db, p) =>
  db
    .selectFrom('refresh_token')
    .innerJoin('session', 'session.id', 'refresh_token.session_id')
    .selectAll('session')
    .select('refresh_token.generation as token_generation')
    .where('refresh_token.hash', '=', p('hash')),
);

/** The session of a refresh token, whether the token is active or not. */
export async function sessionOfToken(
  session: Executor,
  hash: string,
): Promise<{ session: Session; generation: number } | undefined> {
  const row = await byToken.first(session, { hash });
  return row && { session: toSession(row), generation: row.token_generation };
}

export const touchSession = statement<Tables, { id: string; nowMs: number }>()((db, p) =>
  db
    .updateTable('session')
    .set({ last_used_at_ms: p('nowMs') })
    .where('id', '=', p('id')),
);

export const deleteSession = statement<Tables, { id: string }>()((db, p) =>
  db.deleteFrom('session').where('id', '=', p('id')),
);

export const deleteSessionOf = statement<Tables, { id: string; userId: string }>()((db, p) =>
  db.deleteFrom('session').where('id', '=', p('id')).where('user_id', '=', p('userId')),
);

export const deleteSessionsOf = statement<Tables, { userId: string }>()((db, p) =>
  db.deleteFrom('session').where('user_id', '=', p('userId')),
);

// Reads in the order of an index, so it is cheap if there are no excess sessions.
const excessSession = statement<Tables, { userId: string; keep: number }>()((db, p) =>
  db
    .selectFrom('session')
    .select('authenticated_at_ms')
    .where('user_id', '=', p('userId'))
    .orderBy('authenticated_at_ms', 'desc')
    .limit(1)
    .offset(p('keep')),
);

/** Deletes all sessions of a user except the newest `keep`. */
export async function deleteExcessSessions(
  session: Executor,
  of: { userId: string; keep: number },
): Promise<void> {
  if (await excessSession.first(session, of)) await deleteExcess.run(session, of);
}

const deleteExcess = statement<Tables, { userId: string; keep: number }>()((db, p) =>
  db
    .deleteFrom('session')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('session')
        .select('id')
        .where('user_id', '=', p('userId'))
        .orderBy('authenticated_at_ms', 'desc')
        .orderBy('last_used_at_ms', 'desc')
        .limit(1_000)
        .offset(p('keep')),
    ),
);

/** Deletes at most 50, since their tokens go with them. */
export const deleteExpiredSessions = statement<Tables, { beforeMs: number }>()((db, p) =>
  db
    .deleteFrom('session')
    .where('id', 'in', (eb) =>
      eb.selectFrom('session').select('id').where('expires_at_ms', '<', p('beforeMs')).limit(50),
    ),
);

function toSession(row: SessionRow): Session {
  return {
    id: row.id,
    userId: row.user_id,
    amr: row.amr.split(' ') as Method[],
    authenticatedMs: row.authenticated_at_ms,
    lastUsedMs: row.last_used_at_ms,
    expiresMs: row.expires_at_ms,
    generation: row.generation,
    rotatedMs: row.rotated_at_ms ?? undefined,
    visitor: { address: row.address, userAgent: row.user_agent },
  };
}
