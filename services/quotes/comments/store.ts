import { sql } from 'kysely';
import { type Database, keyShare, type Session, statement } from '#kit/db/index.ts';
import { notFound } from '#kit/errors.ts';
import type { Tables } from '../tables.ts';
import type { Comment } from './comment.ts';

const insertComment = statement<Tables, { quoteId: number; userId: number; text: string; nowMs: number }>()(
  (_db, p, dialect) => sql<{ id: number }>`INSERT INTO comment (quote_id, user_id, text, created_at_ms)
    SELECT id, CAST(${p('userId')} AS integer), CAST(${p('text')} AS text), CAST(${p('nowMs')} AS bigint)
    FROM quote WHERE id = ${p('quoteId')} AND is_published = 1 ${keyShare(dialect, 'quote')} RETURNING id`,
);

const columns = [
  'comment.id',
  'comment.quote_id as quoteId',
  'comment.user_id as userId',
  'auth_user.username',
  'comment.text',
  'comment.created_at_ms as createdAtMs',
] as const;

const commentsOf = statement<Tables, { quoteId: number; limit: number; offset: number }>()((db, p) =>
  db
    .selectFrom('comment')
    .innerJoin('auth_user', 'auth_user.id', 'comment.user_id')
    .select(columns)
    .where('comment.quote_id', '=', p('quoteId'))
    .orderBy('comment.id')
    .limit(p('limit'))
    .offset(p('offset')),
);

const commentTotal = statement<Tables, { quoteId: number }>()((db, p) =>
  db
    .selectFrom('comment')
    .select((e) => e.fn.countAll<number>().as('total'))
    .where('quote_id', '=', p('quoteId')),
);

const commentById = statement<Tables, { quoteId: number; id: number }>()((db, p) =>
  db
    .selectFrom('comment')
    .innerJoin('auth_user', 'auth_user.id', 'comment.user_id')
    .select(columns)
    .where('comment.quote_id', '=', p('quoteId'))
    .where('comment.id', '=', p('id')),
);

const deleteById = statement<Tables, { id: number }>()((db, p) =>
  db.deleteFrom('comment').where('id', '=', p('id')),
);

/** The id of a new comment on a published quote. Throws `not_found`. */
export async function addComment(
  database: Database<Tables>,
  comment: { quoteId: number; userId: number; text: string; nowMs: number },
): Promise<number> {
  const added = await insertComment.first(database, comment);
  if (!added) throw notFound('quote', comment.quoteId);
  return added.id;
}

/** Comments on a quote by ascending id. */
export function listComments(
  session: Session<Tables>,
  slice: { quoteId: number; limit: number; offset: number },
): Promise<Comment[]> {
  return commentsOf.all(session, slice);
}

export async function countComments(session: Session<Tables>, quoteId: number): Promise<number> {
  return (await commentTotal.first(session, { quoteId }))?.total ?? 0;
}

export function findComment(
  session: Session<Tables>,
  key: { quoteId: number; id: number },
): Promise<Comment | undefined> {
  return commentById.first(session, key);
}

export async function deleteComment(session: Session<Tables>, id: number): Promise<void> {
  await deleteById.run(session, { id });
}
