import { newSecret } from '@octavo/core';
import type { Insertable } from 'kysely';
import type { CeremonyRow, PasskeyRow, Store, Tables } from '../store/store.ts';
import type { Passkey } from './passkey.ts';

/** A passkey with the user handle that its authenticator knows. */
export type PasskeyWithHandle = Passkey & { readonly handle: string };

export function insertCeremony({ kysely }: Store, row: Insertable<Tables['passkey_ceremony']>) {
  return kysely.insertInto('passkey_ceremony').values(row).execute();
}

/** A challenge is used up, whether or not its response is valid. */
export function consumeCeremony({ kysely }: Store, id: string, kind: CeremonyRow['kind']) {
  return kysely
    .deleteFrom('passkey_ceremony')
    .where('id', '=', id)
    .where('kind', '=', kind)
    .returningAll()
    .executeTakeFirst();
}

export function deleteExpiredCeremonies({ kysely }: Store, nowMs: number) {
  return kysely.deleteFrom('passkey_ceremony').where('expires_at_ms', '<=', nowMs).execute();
}

/** The user handle (`user.id` of WebAuthn); undefined where no registration was ever begun. */
export async function findHandle(session: Store, userId: string): Promise<string | undefined> {
  const row = await session.kysely
    .selectFrom('passkey_holder')
    .select('handle')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.handle;
}

/** The user handle (`user.id` of WebAuthn): created on first use, never changed. */
export async function handleOf(session: Store, userId: string): Promise<string> {
  const known = await findHandle(session, userId);
  if (known !== undefined) return known;
  await session.kysely
    .insertInto('passkey_holder')
    .values({ user_id: userId, handle: newSecret() })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .execute();
  const made = await findHandle(session, userId);
  if (made === undefined) throw new Error('the handle of a user is missing');
  return made;
}

export async function findPasskey(session: Store, id: string): Promise<PasskeyWithHandle | undefined> {
  const row = await session.kysely
    .selectFrom('passkey')
    .innerJoin('passkey_holder', 'passkey_holder.user_id', 'passkey.user_id')
    .selectAll('passkey')
    .select('passkey_holder.handle')
    .where('passkey.id', '=', id)
    .executeTakeFirst();
  return row && { ...toPasskey(row), handle: row.handle };
}

/** The passkeys of a user, oldest first. */
export async function passkeysOf(session: Store, userId: string): Promise<Passkey[]> {
  const rows = await session.kysely
    .selectFrom('passkey')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_at_ms')
    .orderBy('id')
    .execute();
  return rows.map(toPasskey);
}

/** The passkeys of all users with an address; those of its owner first. */
export async function passkeysOfAddress(
  session: Store,
  email: string,
  limit: number,
): Promise<Pick<Passkey, 'id' | 'transports'>[]> {
  const rows = await session.kysely
    .selectFrom('passkey')
    .innerJoin('user', 'user.id', 'passkey.user_id')
    .select(['passkey.id', 'passkey.transports'])
    .where('user.email', '=', email)
    .orderBy('user.verified', 'desc')
    .orderBy('passkey.created_at_ms')
    .orderBy('passkey.id')
    .limit(limit)
    .execute();
  return rows.map(({ id, transports }) => ({ id, transports: JSON.parse(transports) }));
}

export function countPasskeys({ kysely }: Store, userId: string) {
  return kysely
    .selectFrom('passkey')
    .select((e) => e.fn.countAll<number>().as('passkeys'))
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

/** False where the id is taken. */
export async function insertPasskey(session: Store, passkey: Passkey): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await session.kysely
    .insertInto('passkey')
    .values({
      id: passkey.id,
      user_id: passkey.userId,
      public_key: passkey.publicKey,
      counter: passkey.counter,
      transports: JSON.stringify(passkey.transports),
      name: passkey.name,
      backup_eligible: Number(passkey.isBackupEligible),
      backed_up: Number(passkey.isBackedUp),
      created_at_ms: passkey.createdAtMs,
      last_used_at_ms: passkey.lastUsedAtMs ?? null,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

/**
 * Records a sign-in. It changes no row where the counter did not rise, as when a clone signs in at the same moment.
 * Authenticators that do not count stay at 0.
 */
export function usePasskey(
  { kysely }: Store,
  given: { id: string; counter: number; backedUp: number; nowMs: number },
) {
  return kysely
    .updateTable('passkey')
    .set({ counter: given.counter, backed_up: given.backedUp, last_used_at_ms: given.nowMs })
    .where('id', '=', given.id)
    .where((e) =>
      e.or([
        e('counter', '<', given.counter),
        e.and([e('counter', '=', 0), e(e.val(given.counter), '=', 0)]),
      ]),
    )
    .executeTakeFirst();
}

/** The renamed passkey; undefined where the user has none with that id. */
export async function renamePasskey(
  session: Store,
  renamed: { id: string; userId: string; name: string },
): Promise<Passkey | undefined> {
  const row = await session.kysely
    .updateTable('passkey')
    .set({ name: renamed.name })
    .where('id', '=', renamed.id)
    .where('user_id', '=', renamed.userId)
    .returningAll()
    .executeTakeFirst();
  return row && toPasskey(row);
}

export function deletePasskey({ kysely }: Store, { id, userId }: { id: string; userId: string }) {
  return kysely.deleteFrom('passkey').where('id', '=', id).where('user_id', '=', userId).executeTakeFirst();
}

function toPasskey(row: PasskeyRow): Passkey {
  return {
    id: row.id,
    userId: row.user_id,
    publicKey: new Uint8Array(row.public_key),
    counter: row.counter,
    transports: JSON.parse(row.transports),
    name: row.name,
    isBackupEligible: row.backup_eligible !== 0,
    isBackedUp: row.backed_up !== 0,
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms ?? undefined,
  };
}
