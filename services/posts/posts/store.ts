import { sql } from 'kysely';
import { type Session, statement, type WriteSession } from '#kit/db/index.ts';
import type { Tables } from '../database.ts';
import type { ReservedIds } from '../statistics/index.ts';
import { hasChanged, type NewPost, type Post } from './post.ts';

/** A post as it is written. */
export interface PostText extends NewPost {
  /** The text that is searched, where SQL cannot make it from title and body (kit/search). */
  readonly normalized: string | null;
}

export function findPost(session: Session<Tables>, id: number): Promise<Post | undefined> {
  return byId.first(session, { id });
}

/** Writes new posts under the ids that were reserved for them. `pause` lets other work run in between. */
export async function insertPosts(
  session: WriteSession<Tables>,
  posts: readonly PostText[],
  { lastId, createdAtMs, pause }: ReservedIds & { pause: () => Promise<void> | undefined },
): Promise<void> {
  let start = 0;
  for (const { rows, insert } of inserts) {
    for (; start + rows.length <= posts.length; start += rows.length) {
      const params: RowParams = { createdAtMs };
      for (const [index, names] of rows.entries()) {
        const { userId, title, body, normalized } = posts[start + index] as PostText;
        params[names.id] = lastId + start + index + 1;
        params[names.userId] = userId;
        params[names.title] = title;
        params[names.body] = body;
        params[names.normalized] = normalized;
      }
      await insert.run(session, params);
      await pause();
    }
  }
}

/** Writes a changed post over the revision before it. */
export async function replacePost(session: WriteSession<Tables>, post: Post & PostText): Promise<void> {
  const { changes } = await replace.run(session, { ...post, before: post.revision - 1 });
  if (changes === 0) throw hasChanged(post.id);
}

export async function removePost(session: WriteSession<Tables>, post: Post): Promise<void> {
  const { changes } = await remove.run(session, { id: post.id, revision: post.revision });
  if (changes === 0) throw hasChanged(post.id);
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
export const postsAfter = statement<Tables, { after: number; limit: number }>()((db, p) =>
  db
    .selectFrom('post')
    .select(postColumns)
    .where('post.id', '>', p('after'))
    .orderBy('post.id')
    .limit(p('limit')),
);

type RowParams = Record<string, string | number | null>;

/** Statements for many rows, for few and for one, because each statement costs as much as a row. */
const inserts = [64, 8, 1].map((rowCount) => {
  const rows = Array.from({ length: rowCount }, (_, row) => ({
    id: `id${row}`,
    userId: `userId${row}`,
    title: `title${row}`,
    body: `body${row}`,
    normalized: `normalized${row}`,
  }));
  const insert = statement<Tables, RowParams>()((_db, p) => {
    const values = rows.map(
      ({ id, userId, title, body, normalized }) => sql`(${p(id)}, ${p(userId)}, ${p(title)}, ${p(body)},
        ${p('createdAtMs')}, ${p('createdAtMs')}, 1, ${p(normalized)})`,
    );
    return sql`INSERT INTO post (id, user_id, title, body, created_at_ms, updated_at_ms, revision, folded)
      VALUES ${sql.join(values)}`;
  });
  return { rows, insert };
});

const replace = statement<
  Tables,
  {
    id: number;
    title: string;
    body: string;
    updatedAtMs: number;
    revision: number;
    before: number;
    normalized: string | null;
  }
>()((db, p) =>
  db
    .updateTable('post')
    .set({
      title: p('title'),
      body: p('body'),
      updated_at_ms: p('updatedAtMs'),
      revision: p('revision'),
      folded: p('normalized'),
    })
    .where('id', '=', p('id'))
    .where('revision', '=', p('before')),
);

const remove = statement<Tables, { id: number; revision: number }>()((db, p) =>
  db.deleteFrom('post').where('id', '=', p('id')).where('revision', '=', p('revision')),
);
