import { statement, type WriteSession } from '@octavo/data';
import type { PostRow, Store, Tables } from '../database.ts';
import type { ReservedIds } from '../statistics/index.ts';
import { createdPost, hasChanged, type NewPost, type Post } from './post.ts';

/** A post as it is written. */
export interface PostText extends NewPost {
  /** The text that is searched, where SQL cannot make it from title and body (packages/data/search). */
  readonly normalized: string | null;
}

export function findPost(session: Store, id: number): Promise<Post | undefined> {
  return byId.first(session, { id });
}

/** A statement with many rows costs little more than one with a single row, and holds up other work as long as all its rows. */
const rowsAtOnce = 64;

/** Writes new posts under the ids that were reserved for them. `pause` lets other work run in between. */
export async function insertPosts(
  { kysely }: WriteSession<Tables>,
  posts: readonly PostText[],
  { lastId, createdAtMs, pause }: ReservedIds & { pause: () => Promise<void> | undefined },
): Promise<void> {
  for (let start = 0; start < posts.length; start += rowsAtOnce) {
    const rows = posts.slice(start, start + rowsAtOnce).map((post, index) => ({
      ...rowOf(createdPost(post, lastId + start + index + 1, createdAtMs)),
      folded: post.normalized,
    }));
    await kysely.insertInto('post').values(rows).execute();
    await pause();
  }
}

/** Writes one post as it is given, times and revision included. */
export async function insertPost({ kysely }: WriteSession<Tables>, post: Post & PostText): Promise<void> {
  await kysely
    .insertInto('post')
    .values({ ...rowOf(post), folded: post.normalized })
    .execute();
}

/** Writes a changed post over the revision before it. */
export async function replacePost({ kysely }: WriteSession<Tables>, post: Post & PostText): Promise<void> {
  const { id, title, body, updatedAtMs, revision, normalized } = post;
  const { numUpdatedRows } = await kysely
    .updateTable('post')
    .set({ title, body, updated_at_ms: updatedAtMs, revision, folded: normalized })
    .where('id', '=', id)
    .where('revision', '=', revision - 1)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw hasChanged(id);
}

export async function removePost({ kysely }: WriteSession<Tables>, { id, revision }: Post): Promise<void> {
  const { numDeletedRows } = await kysely
    .deleteFrom('post')
    .where('id', '=', id)
    .where('revision', '=', revision)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw hasChanged(id);
}

/** The row of a post, here and among those that were deleted. */
export function rowOf(post: Post): Omit<PostRow, 'folded'> {
  const { id, userId, title, body, createdAtMs, updatedAtMs, revision } = post;
  const times = { created_at_ms: createdAtMs, updated_at_ms: updatedAtMs };
  return { id, user_id: userId, title, body, revision, ...times };
}

/** The columns of a post, as a {@link Post}. */
export const postColumns = [
  'post.id',
  'post.user_id as userId',
  'post.title',
  'post.body',
  'post.created_at_ms as createdAtMs',
  'post.updated_at_ms as updatedAtMs',
  'post.revision',
] as const;

const byId = statement<Tables, { id: number }>()((db, p) =>
  db.selectFrom('post').select(postColumns).where('id', '=', p('id')),
);

/** The posts that follow an id. */
export function postsAfter({ kysely }: Store, after: number, limit: number) {
  return kysely
    .selectFrom('post')
    .select(postColumns)
    .where('post.id', '>', after)
    .orderBy('post.id')
    .limit(limit)
    .execute();
}
