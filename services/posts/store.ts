import { sql } from 'kysely';
import { type Session, statement, type WriteSession } from '#kit/db/index.ts';
import { hasChanged, type NewPost, type Post } from './post.ts';
import type { Tables } from './tables.ts';

/** Every transaction that changes posts takes this first: ids then rise in the order of commits. */
export const writeLock = 'posts';

/** What a transaction of new posts was given: the id before its first, and the time of their creation. */
export interface Reserved {
  readonly lastId: number;
  readonly createdAtMs: number;
}

/** What is searched of a post, where SQL cannot make it of title and body (fold.ts). */
export interface Folded {
  readonly folded: string | null;
}

export function findPost(session: Session<Tables>, id: number): Promise<Post | undefined> {
  return byId.first(session, { id });
}

/** The posts of some ids, in that order; those that do not exist are left out. */
export async function findPosts(session: Session<Tables>, ids: readonly number[]): Promise<Post[]> {
  const posts = new Map(
    (await byIds.all(session, { ids: JSON.stringify(ids) })).map((post) => [post.id, post]),
  );
  return ids.flatMap((id) => posts.get(id) ?? []);
}

/** Takes ids for new posts. Time does not run backwards: where the clock did, they get the time of the last one. */
export async function reserveIds(
  session: WriteSession<Tables>,
  options: { posts: number; characters: number; nowMs: number },
): Promise<Reserved> {
  const { posts, characters, nowMs } = options;
  const reserved = await reserve.first(session, { posts, characters, nowMs });
  if (!reserved) throw new Error('the row of post_total is missing');
  return { lastId: reserved.last_id - posts, createdAtMs: reserved.last_created_at_ms };
}

/** Writes new posts under the ids that were reserved for them. `pause` lets others in between. */
export async function insertPosts(
  session: WriteSession<Tables>,
  posts: readonly (NewPost & Folded)[],
  { lastId, createdAtMs, pause }: Reserved & { pause: () => Promise<void> | undefined },
): Promise<void> {
  let start = 0;
  for (const { rows, insert } of inserts) {
    for (; start + rows.length <= posts.length; start += rows.length) {
      const params: RowParams = { createdAtMs };
      for (const [index, names] of rows.entries()) {
        const { userId, title, body, folded } = posts[start + index] as NewPost & Folded;
        params[names.id] = lastId + start + index + 1;
        params[names.userId] = userId;
        params[names.title] = title;
        params[names.body] = body;
        params[names.folded] = folded;
      }
      await insert.run(session, params);
      await pause();
    }
  }
}

/** Writes a changed post over the revision before. */
export async function replacePost(session: WriteSession<Tables>, post: Post & Folded): Promise<void> {
  const { changes } = await replace.run(session, { ...post, before: post.revision - 1 });
  if (changes === 0) throw hasChanged(post.id);
}

export async function removePost(session: WriteSession<Tables>, post: Post): Promise<void> {
  const { changes } = await remove.run(session, { id: post.id, revision: post.revision });
  if (changes === 0) throw hasChanged(post.id);
}

/** Notes that a post was changed or deleted, and so is not as the search index knows it. */
export async function noteChange(
  session: WriteSession<Tables>,
  { id, ...counts }: { id: number; posts: number; characters: number },
): Promise<void> {
  const change = await addTotals(session, counts);
  if (session.dialect === 'sqlite') await markStale.run(session, { id, change });
}

/** Adds to the kept totals; gives the number of this change. */
export async function addTotals(
  session: WriteSession<Tables>,
  counts: { posts: number; characters: number },
): Promise<number> {
  return (await increaseTotals.first(session, counts))?.last_change ?? 0;
}

/** A post's columns under the names of the domain. */
export const postColumns = [
  'post.id',
  'post.user_id as userId',
  'post.title',
  'post.body',
  'post.created_at_ms as createdAtMs',
  'post.updated_at_ms as updatedAtMs',
  'post.revision',
] as const;

const byId = statement<Tables, { id: number }, Post>((db, p) =>
  db.selectFrom('post').select(postColumns).where('id', '=', p('id')),
);

const byIds = statement<Tables, { ids: string }, Post>((db, p) =>
  db
    .selectFrom('post')
    .select(postColumns)
    .where('id', 'in', sql<number>`(SELECT value FROM json_each(${p('ids')}))`),
);

const reserve = statement<
  Tables,
  { posts: number; characters: number; nowMs: number },
  { last_id: number; last_created_at_ms: number }
>((db, p) =>
  db
    .updateTable('post_total')
    .set((e) => ({
      last_id: e('last_id', '+', p('posts')),
      posts: e('posts', '+', p('posts')),
      characters: e('characters', '+', p('characters')),
      last_created_at_ms: e
        .case()
        .when('last_created_at_ms', '>', p('nowMs'))
        .then(e.ref('last_created_at_ms'))
        .else(p('nowMs'))
        .end(),
    }))
    .returning(['last_id', 'last_created_at_ms']),
);

type RowParams = Record<string, string | number | null>;

/** Statements for many rows, few and one, because each statement costs as much as a row. */
const inserts = [64, 8, 1].map((rowCount) => {
  const rows = Array.from({ length: rowCount }, (_, row) => ({
    id: `id${row}`,
    userId: `userId${row}`,
    title: `title${row}`,
    body: `body${row}`,
    folded: `folded${row}`,
  }));
  const insert = statement<Tables, RowParams>((_db, p) => {
    const values = rows.map(
      ({ id, userId, title, body, folded }) => sql`(${p(id)}, ${p(userId)}, ${p(title)}, ${p(body)},
        ${p('createdAtMs')}, ${p('createdAtMs')}, 1, ${p(folded)})`,
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
    folded: string | null;
  }
>((db, p) =>
  db
    .updateTable('post')
    .set({
      title: p('title'),
      body: p('body'),
      updated_at_ms: p('updatedAtMs'),
      revision: p('revision'),
      folded: p('folded'),
    })
    .where('id', '=', p('id'))
    .where('revision', '=', p('before')),
);

const remove = statement<Tables, { id: number; revision: number }>((db, p) =>
  db.deleteFrom('post').where('id', '=', p('id')).where('revision', '=', p('revision')),
);

const increaseTotals = statement<Tables, { posts: number; characters: number }, { last_change: number }>(
  (db, p) =>
    db
      .updateTable('post_total')
      .set((e) => ({
        last_change: e('last_change', '+', 1),
        posts: e('posts', '+', p('posts')),
        characters: e('characters', '+', p('characters')),
      }))
      .returning('last_change'),
);

const markStale = statement<Tables, { id: number; change: number }>((db, p) =>
  db
    .insertInto('search_stale')
    .values({ post_id: p('id'), change: p('change') })
    .onConflict((conflict) =>
      conflict.column('post_id').doUpdateSet((e) => ({ change: e.ref('excluded.change') })),
    ),
);
