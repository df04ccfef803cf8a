import { type Author, type Change, recordChanges } from '@octavo/admin';
import type { WriteSession } from '@octavo/data';
import type { Tables } from './tables.ts';

/** Records a reader's change in the history of the admin, in the transaction of the change. */
export async function record(
  session: WriteSession<Tables>,
  change: Omit<Change, 'id'> & { readonly id: number },
  { id, username, nowMs, via }: { readonly id: number; readonly username: string } & Omit<Author, 'user'>,
): Promise<void> {
  const user = { id: String(id), name: username };
  await recordChanges(session, [{ ...change, id: String(change.id) }], { user, nowMs, via });
}
