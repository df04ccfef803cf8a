import { type Insertable, sql } from 'kysely';
import type { MagicLinkRow, Store, Tables } from '../store/store.ts';

export type LinkRow = MagicLinkRow;
/** Caller that requested a link: a stranger, or a user of the address with a token. */
export type LinkAsker = MagicLinkRow['asker'];

const codeTriesMax = 5;
/** Links of an address that work at the same time, for each kind of asker. */
export const liveLinksMax = 3;
/** A literal, since with a parameter the databases would not use the partial index of unused links. */
const isUnused = sql<boolean>`used = 0`;

export function insertLink(
  { kysely }: Store,
  row: Omit<Insertable<Tables['magic_link']>, 'code_tries' | 'used'>,
) {
  return kysely
    .insertInto('magic_link')
    .values({ ...row, code_tries: 0, used: 0 })
    .execute();
}

/** Counts the links that a caller had sent to an address since then. */
export async function countLinks(
  session: Store,
  since: { email: string; asker: LinkAsker; sinceMs: number },
): Promise<number> {
  const row = await session.kysely
    .selectFrom('magic_link')
    .select((eb) => eb.fn.countAll<number>().as('links'))
    .where('email', '=', since.email)
    .where('asker', '=', since.asker)
    .where('created_at_ms', '>', since.sinceMs)
    .executeTakeFirst();
  return row?.links ?? 0;
}

/** Voids the oldest links of an asker, so that a new one is at most the third. The caller holds the lock of the address. */
export function voidOldestLinks({ kysely }: Store, email: string, asker: LinkAsker) {
  return kysely
    .updateTable('magic_link')
    .set({ used: 1 })
    .where('hash', 'in', (eb) =>
      eb
        .selectFrom('magic_link')
        .select('hash')
        .where('email', '=', email)
        .where('asker', '=', asker)
        .where(isUnused)
        .orderBy('created_at_ms', 'desc')
        .limit(100)
        .offset(liveLinksMax - 1),
    )
    .execute();
}

export function voidLinks({ kysely }: Store, email: string) {
  return kysely
    .updateTable('magic_link')
    .set({ used: 1 })
    .where('email', '=', email)
    .where(isUnused)
    .execute();
}

export function findLink({ kysely }: Store, hash: string) {
  return kysely.selectFrom('magic_link').selectAll().where('hash', '=', hash).executeTakeFirst();
}

/** Uses a link; of several requests at once, only the winner changes a row. */
export function useLink({ kysely }: Store, hash: string, nowMs: number) {
  return kysely
    .updateTable('magic_link')
    .set({ used: 1 })
    .where('hash', '=', hash)
    .where(isUnused)
    .where('expires_at_ms', '>', nowMs)
    .executeTakeFirst();
}

/** Counts a try for every valid code of an address, and returns their links. */
export function tryCodes({ kysely }: Store, email: string, nowMs: number) {
  return kysely
    .updateTable('magic_link')
    .set((eb) => ({ code_tries: eb('code_tries', '+', 1) }))
    .where('email', '=', email)
    .where(isUnused)
    .where('expires_at_ms', '>', nowMs)
    .where('code_tries', '<', codeTriesMax)
    .returningAll()
    .execute();
}

/** Deletes at most 500. */
export function deleteExpiredLinks({ kysely }: Store, beforeMs: number) {
  return kysely
    .deleteFrom('magic_link')
    .where('hash', 'in', (eb) =>
      eb.selectFrom('magic_link').select('hash').where('expires_at_ms', '<', beforeMs).limit(500),
    )
    .execute();
}
