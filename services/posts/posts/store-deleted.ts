import type { WriteSession } from '@octavo/data';
import type { Store, Tables } from '../database.ts';
import type { Post } from './post.ts';
import { postColumns, rowOf } from './store.ts';

/** A post as it was when it was deleted. */
export interface DeletedPost extends Post {
  readonly deletedAtMs: number;
}

export async function keepDeleted({ kysely }: WriteSession<Tables>, post: DeletedPost): Promise<void> {
  await kysely
    .insertInto('deleted_post')
    .values({ ...rowOf(post), deleted_at_ms: post.deletedAtMs })
    .execute();
}

/** A deleted post as it was, unless it was deleted before that time. */
export function findDeleted({ kysely }: Store, { id, sinceMs }: { id: number; sinceMs: number }) {
  return kysely
    .selectFrom('deleted_post as post')
    .select(postColumns)
    .where('id', '=', id)
    .where('deleted_at_ms', '>', sinceMs)
    .executeTakeFirst();
}

/** The latest deleted first. */
export function listDeleted(
  { kysely }: Store,
  { sinceMs, limit, offset }: { sinceMs: number; limit: number; offset: number },
) {
  return kysely
    .selectFrom('deleted_post as post')
    .select([...postColumns, 'deleted_at_ms as deletedAtMs'])
    .where('deleted_at_ms', '>', sinceMs)
    .orderBy('deleted_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();
}

export async function countDeleted({ kysely }: Store, sinceMs: number): Promise<number> {
  const { total } = await kysely
    .selectFrom('deleted_post')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('deleted_at_ms', '>', sinceMs)
    .executeTakeFirstOrThrow();
  return total;
}

export async function removeDeleted({ kysely }: WriteSession<Tables>, id: number): Promise<void> {
  await kysely.deleteFrom('deleted_post').where('id', '=', id).execute();
}

/** Removes the oldest, at most `limit`, and returns how many there were. */
export async function removeDeletedBefore(
  { kysely }: WriteSession<Tables>,
  { beforeMs, limit }: { beforeMs: number; limit: number },
): Promise<number> {
  const oldest = kysely
    .selectFrom('deleted_post')
    .select('id')
    .where('deleted_at_ms', '<=', beforeMs)
    .orderBy('deleted_at_ms')
    .orderBy('id')
    .limit(limit);
  const { numDeletedRows } = await kysely
    .deleteFrom('deleted_post')
    .where('id', 'in', oldest)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
