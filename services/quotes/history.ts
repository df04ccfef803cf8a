import { type Change, recordChanges } from '#kit/admin/index.ts';
import type { WriteSession } from '#kit/db/index.ts';
import type { Tables } from './tables.ts';

/** Writes what a reader did to the history that the admin shows, in the transaction of the change. */
export async function record(
  session: WriteSession<Tables>,
  change: Omit<Change, 'id'> & { readonly id: number },
  who: { readonly id: number; readonly username: string; readonly nowMs: number },
): Promise<void> {
  const user = { id: String(who.id), name: who.username };
  await recordChanges(session, [{ ...change, id: String(change.id) }], { user, nowMs: who.nowMs });
}
