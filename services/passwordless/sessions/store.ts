import type { Database } from '@octavo/data';
import type { SessionRow, Store, Tables } from '../store/store.ts';
import type { Method, Session } from './session.ts';

export async function findSession(session: Store, id: string): Promise<Session | undefined> {
  const row = await session.kysely.selectFrom('session').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toSession(row);
}

/** Sessions that have not expired, newest first. */
export async function sessionsOf(session: Store, userId: string, nowMs: number): Promise<Session[]> {
  const rows = await session.kysely
    .selectFrom('session')
    .selectAll()
    .where('user_id', '=', userId)
    .where('expires_at_ms', '>', nowMs)
    .orderBy('authenticated_at_ms', 'desc')
    .orderBy('id')
    .execute();
  return rows.map(toSession);
}

export function insertSession(
  { kysely }: Store,
  given: Record<'id' | 'userId' | 'amr' | 'address' | 'userAgent', string> & {
    nowMs: number;
    expiresMs: number;
  },
) {
  return kysely
    .insertInto('session')
    .values({
      id: given.id,
      user_id: given.userId,
      amr: given.amr,
      authenticated_at_ms: given.nowMs,
      last_used_at_ms: given.nowMs,
      expires_at_ms: given.expiresMs,
      generation: 1,
      rotated_at_ms: null,
      address: given.address,
      user_agent: given.userAgent,
    })
    .execute();
}

export function insertToken(
  { kysely }: Store,
  { hash, sessionId, generation }: { hash: string; sessionId: string; generation: number },
) {
  return kysely.insertInto('refresh_token').values({ hash, session_id: sessionId, generation }).execute();
}

interface Rotation extends Record<'nowMs' | 'expiresMs' | 'sessionMs', number> {
  readonly hash: string;
}

/**
 * Moves a session to its next generation, and returns it; undefined if the token is not the active one or has expired. Of several
 * requests with the same token one wins, because each checks the generation again once it holds the row.
 */
export async function rotateSession(session: Store, rotation: Rotation): Promise<Session | undefined> {
  const row = await session.kysely
    .updateTable('session')
    .set((eb) => ({
      generation: eb('generation', '+', 1),
      rotated_at_ms: rotation.nowMs,
      last_used_at_ms: rotation.nowMs,
      expires_at_ms: eb
        .case()
        .when(eb('authenticated_at_ms', '+', rotation.sessionMs), '<', rotation.expiresMs)
        .then(eb('authenticated_at_ms', '+', rotation.sessionMs))
        .else(rotation.expiresMs)
        .end(),
    }))
    .where('id', '=', (eb) =>
      eb.selectFrom('refresh_token').select('session_id').where('hash', '=', rotation.hash),
    )
    .where('generation', '=', (eb) =>
      eb.selectFrom('refresh_token').select('refresh_token.generation').where('hash', '=', rotation.hash),
    )
    .where('expires_at_ms', '>', rotation.nowMs)
    .returningAll()
    .executeTakeFirst();
  return row && toSession(row);
}

/** The session of a refresh token, whether the token is active or not. */
export async function sessionOfToken(
  session: Store,
  hash: string,
): Promise<{ session: Session; generation: number } | undefined> {
  const row = await session.kysely
    .selectFrom('refresh_token')
    .innerJoin('session', 'session.id', 'refresh_token.session_id')
    .selectAll('session')
    .select('refresh_token.generation as token_generation')
    .where('refresh_token.hash', '=', hash)
    .executeTakeFirst();
  return row && { session: toSession(row), generation: row.token_generation };
}

export function touchSession({ kysely }: Store, id: string, nowMs: number) {
  return kysely.updateTable('session').set({ last_used_at_ms: nowMs }).where('id', '=', id).execute();
}

export function deleteSession({ kysely }: Store, id: string) {
  return kysely.deleteFrom('session').where('id', '=', id).executeTakeFirst();
}

export function deleteSessionOf({ kysely }: Store, { id, userId }: { id: string; userId: string }) {
  return kysely.deleteFrom('session').where('id', '=', id).where('user_id', '=', userId).executeTakeFirst();
}

export function deleteSessionsOf({ kysely }: Store, userId: string) {
  return kysely.deleteFrom('session').where('user_id', '=', userId).execute();
}

// Reads in the order of an index, so it is cheap if there are no excess sessions.
function excessSession({ kysely }: Store, { userId, keep }: { userId: string; keep: number }) {
  return kysely
    .selectFrom('session')
    .select('authenticated_at_ms')
    .where('user_id', '=', userId)
    .orderBy('authenticated_at_ms', 'desc')
    .limit(1)
    .offset(keep)
    .executeTakeFirst();
}

/** Deletes all sessions of a user except the newest `keep`. */
export async function deleteExcessSessions(
  session: Store,
  of: { userId: string; keep: number },
): Promise<void> {
  if (await excessSession(session, of))
    await session.kysely
      .deleteFrom('session')
      .where('id', 'in', (eb) =>
        eb
          .selectFrom('session')
          .select('id')
          .where('user_id', '=', of.userId)
          .orderBy('authenticated_at_ms', 'desc')
          .orderBy('last_used_at_ms', 'desc')
          .limit(1_000)
          .offset(of.keep),
      )
      .execute();
}

/** Deletes at most 50, since their tokens go with them. */
export function deleteExpiredSessions({ kysely }: Store, beforeMs: number) {
  return kysely
    .deleteFrom('session')
    .where('id', 'in', (eb) =>
      eb.selectFrom('session').select('id').where('expires_at_ms', '<', beforeMs).limit(50),
    )
    .execute();
}

/** Gives the applications of a session to the next one of the same user, and that its methods. */
export async function takeOver(
  database: Database<Tables>,
  { from, to, amr }: { from: string; to: string; amr: string },
): Promise<void> {
  await database.write(async ({ kysely }) => {
    await kysely.updateTable('session').set({ amr }).where('id', '=', to).execute();
    await kysely.updateTable('oidc_sign_in').set({ session_id: to }).where('session_id', '=', from).execute();
  });
}

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
