import type { Clock } from '@octavo/core';
import { newOrderedId } from '@octavo/core';
import type { Database, WriteSession } from '@octavo/data';
import type { AdapterPayload } from 'oidc-provider';
import type { Tables } from '../../store/store.ts';
import { endGrants } from '../store-records.ts';

const hourMs = 3_600_000;
const batchMax = 20;

/** Remembers the sign-in that a session of the provider came from, so that both end together. */
export async function linkSignIn(
  database: Database<Tables>,
  { sessionUid, signInId, expiresMs }: { sessionUid: string; signInId: string; expiresMs: number },
): Promise<void> {
  await database.write(async ({ kysely }) => {
    // The sign-in may have ended a moment ago.
    const found = await kysely
      .selectFrom('session')
      .select('id')
      .where('id', '=', signInId)
      .executeTakeFirst();
    const values = { session_id: found?.id ?? null, outlives: 0, expires_at_ms: expiresMs };
    await kysely
      .insertInto('oidc_sign_in')
      .values({ session_uid: sessionUid, ...values })
      .onConflict((conflict) =>
        conflict
          .column('session_uid')
          .doUpdateSet(values)
          // One that has ended, or whose sign-in has, is told to its applications.
          .where((eb) =>
            eb.or([eb('oidc_sign_in.session_id', 'is not', null), eb('oidc_sign_in.outlives', '=', 1)]),
          ),
      )
      .execute();
  });
}

/** True as long as the sign-in of a session of the provider neither ended nor expired. */
export async function hasSignIn(
  { kysely }: Pick<Database<Tables>, 'kysely'>,
  sessionUid: string,
  nowMs: number,
): Promise<boolean> {
  const row = await kysely
    .selectFrom('oidc_sign_in')
    .innerJoin('session', 'session.id', 'oidc_sign_in.session_id')
    .select('session.id')
    .where('session_uid', '=', sessionUid)
    .where('session.expires_at_ms', '>', nowMs)
    .executeTakeFirst();
  return row !== undefined;
}

/** The sign-in of a session of the provider. */
export async function signInOf(database: Database<Tables>, sessionUid: string): Promise<string | undefined> {
  const query = database.kysely.selectFrom('oidc_sign_in').select('session_id');
  const row = await query.where('session_uid', '=', sessionUid).executeTakeFirst();
  return row?.session_id ?? undefined;
}

/** Sign-ins that expire leave their sessions alone: call it before they are deleted, with the time up to which they are. */
export async function releaseExpiredSignIns(database: Database<Tables>, beforeMs: number): Promise<void> {
  await database.write(({ kysely }) =>
    kysely
      .updateTable('oidc_sign_in')
      .set({ outlives: 1 })
      .where('outlives', '=', 0)
      .where('session_id', 'in', (eb) =>
        eb.selectFrom('session').select('id').where('expires_at_ms', '<', beforeMs),
      )
      .execute(),
  );
}

/** Ends a session of the provider: tells its applications, and ends its grants. Of several calls at the same time one does it. */
export async function endSession(
  database: Database<Tables>,
  clock: Clock,
  sessionUid: string,
): Promise<void> {
  await database.write(async (session) => {
    const { kysely } = session;
    const query = kysely.deleteFrom('oidc_record').where('session_uid', '=', sessionUid).returning('payload');
    const row = await query.executeTakeFirst();
    await kysely.deleteFrom('oidc_sign_in').where('session_uid', '=', sessionUid).execute();
    if (!row) return;
    const { accountId = '', authorizations = {} }: AdapterPayload = JSON.parse(row.payload);
    const grants: string[] = [];
    for (const [clientId, { sid, grantId, persistsLogout }] of Object.entries(authorizations)) {
      if (grantId && !persistsLogout) grants.push(grantId);
      await queueLogout(session, { clientId, userId: accountId, sid: sid ?? '', nowMs: clock.now() });
    }
    if (grants.length > 0) await endGrants(session, grants);
  });
}

/** Queues the message to an application, if it has an address for it. */
export async function queueLogout(
  { kysely }: Pick<WriteSession<Tables>, 'kysely'>,
  { clientId, userId, sid, nowMs }: { clientId: string; userId: string; sid: string; nowMs: number },
): Promise<void> {
  const query = kysely.selectFrom('oidc_client').select('id').where('id', '=', clientId);
  const client = await query.where('back_channel_address', 'is not', null).executeTakeFirst();
  if (!client) return;
  const times = { tries: 0, next_try_at_ms: nowMs, expires_at_ms: nowMs + hourMs };
  const row = { id: newOrderedId(), client_id: clientId, user_id: userId, sid, ...times };
  await kysely.insertInto('oidc_logout').values(row).execute();
}

/** Deletes links to sign-ins whose session has expired. */
export async function deleteExpiredSignIns(database: Database<Tables>, beforeMs: number): Promise<void> {
  await database.write(({ kysely }) =>
    kysely.deleteFrom('oidc_sign_in').where('expires_at_ms', '<', beforeMs).execute(),
  );
}

/** Returns at most 20 sessions whose sign-in has ended. */
export async function endedSessions({ kysely }: Pick<Database<Tables>, 'kysely'>): Promise<string[]> {
  const rows = await kysely
    .selectFrom('oidc_sign_in')
    .select('session_uid')
    .where('session_id', 'is', null)
    .where('outlives', '=', 0)
    .limit(batchMax)
    .execute();
  return rows.map((row) => row.session_uid);
}

/** A message to an application that waits. */
export type WaitingLogout = Tables['oidc_logout'];

/** Applications with messages that are due, but for those that are left alone for now. */
export async function dueClients(
  { kysely }: Pick<Database<Tables>, 'kysely'>,
  nowMs: number,
): Promise<{ id: string; failedTries: number }[]> {
  return kysely
    .selectFrom('oidc_client')
    .select(['id', 'failed_tries as failedTries'])
    .where('next_try_at_ms', '<=', nowMs)
    .where('id', 'in', (eb) =>
      eb.selectFrom('oidc_logout').select('client_id').where('next_try_at_ms', '<=', nowMs),
    )
    .execute();
}

/** Returns at most `count` due messages to an application, the longest waiting first. */
export async function dueLogouts(
  { kysely }: Pick<Database<Tables>, 'kysely'>,
  { clientId, nowMs, count }: { clientId: string; nowMs: number; count: number },
): Promise<WaitingLogout[]> {
  return kysely
    .selectFrom('oidc_logout')
    .selectAll()
    .where('client_id', '=', clientId)
    .where('next_try_at_ms', '<=', nowMs)
    .orderBy('next_try_at_ms')
    .limit(count)
    .execute();
}

/** Leaves an application alone until then, after a number of unanswered tries in a row. */
export async function setClientWait(
  database: Database<Tables>,
  id: string,
  { failedTries, untilMs }: { failedTries: number; untilMs: number },
): Promise<void> {
  await database.write(({ kysely }) =>
    kysely
      .updateTable('oidc_client')
      .set({ failed_tries: failedTries, next_try_at_ms: untilMs })
      .where('id', '=', id)
      .execute(),
  );
}

/** Claims a message until then. Of several processes, the one whose statement finds the row as it was read gets it. */
export async function claimLogout(
  database: Database<Tables>,
  { id, tries, next_try_at_ms: dueMs }: WaitingLogout,
  untilMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await database.write(({ kysely }) =>
    kysely
      .updateTable('oidc_logout')
      .set({ tries: tries + 1, next_try_at_ms: untilMs })
      .where('id', '=', id)
      .where('next_try_at_ms', '=', dueMs)
      .executeTakeFirstOrThrow(),
  );
  return numUpdatedRows > 0n;
}

export async function postponeLogout(database: Database<Tables>, id: string, untilMs: number): Promise<void> {
  await database.write(({ kysely }) =>
    kysely.updateTable('oidc_logout').set({ next_try_at_ms: untilMs }).where('id', '=', id).execute(),
  );
}

export async function deleteLogout(database: Database<Tables>, id: string): Promise<void> {
  await database.write(({ kysely }) => kysely.deleteFrom('oidc_logout').where('id', '=', id).execute());
}

/** Gives up messages that were not confirmed within their hour. Returns their number. */
export async function deleteExpiredLogouts(database: Database<Tables>, beforeMs: number): Promise<number> {
  const { numDeletedRows } = await database.write(({ kysely }) =>
    kysely.deleteFrom('oidc_logout').where('expires_at_ms', '<=', beforeMs).executeTakeFirstOrThrow(),
  );
  return Number(numDeletedRows);
}
