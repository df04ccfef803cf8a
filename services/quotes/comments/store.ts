import { notFound } from '@octavo/core';
import { type Database, keyShare, type Session } from '@octavo/data';
import { sql } from 'kysely';
import type { Store, Tables } from '../tables.ts';
import { type Comment, formerUser } from './comment.ts';

async function insertComment(
  { kysely, dialect }: Store,
  given: { quoteId: number; userId: number; text: string; nowMs: number },
) {
  const { rows } = await sql<{ id: number }>`INSERT INTO comment (quote_id, user_id, text, created_at_ms)
    SELECT id, CAST(${given.userId} AS integer), CAST(${given.text} AS text), CAST(${given.nowMs} AS bigint)
    FROM quote WHERE id = ${given.quoteId} AND is_published = 1 ${keyShare(dialect, 'quote')} RETURNING id`.execute(
    kysely,
  );
  return rows[0];
}

function comments({ kysely }: Session<Tables>) {
  return kysely
    .selectFrom('comment')
    .leftJoin('auth_user', 'auth_user.id', 'comment.user_id')
    .select((eb) => [
      'comment.id',
      'comment.quote_id as quoteId',
      'comment.user_id as userId',
      eb.fn.coalesce('auth_user.username', eb.val(formerUser)).as('username'),
      'comment.text',
      'comment.created_at_ms as createdAtMs',
    ]);
}

/** The id of a new comment on a published quote. Throws `not_found`. */
export async function addComment(
  database: Database<Tables>,
  comment: { quoteId: number; userId: number; text: string; nowMs: number },
): Promise<number> {
  const added = await insertComment(database, comment);
  if (!added) throw notFound('quote', comment.quoteId);
  return added.id;
}

/** Comments on a quote by ascending id. */
export function listComments(
  session: Session<Tables>,
  slice: { quoteId: number; limit: number; offset: number },
): Promise<Comment[]> {
  return comments(session)
    .where('comment.quote_id', '=', slice.quoteId)
    .orderBy('comment.id')
    .limit(slice.limit)
    .offset(slice.offset)
    .execute();
}

export async function countComments(session: Session<Tables>, quoteId: number): Promise<number> {
  const row = await session.kysely
    .selectFrom('comment')
    .select((e) => e.fn.countAll<number>().as('total'))
    .where('quote_id', '=', quoteId)
    .executeTakeFirst();
  return row?.total ?? 0;
}

export function findComment(
  session: Session<Tables>,
  key: { quoteId: number; id: number },
): Promise<Comment | undefined> {
  return comments(session)
    .where('comment.quote_id', '=', key.quoteId)
    .where('comment.id', '=', key.id)
    .executeTakeFirst();
}

export async function deleteComment(session: Session<Tables>, id: number): Promise<void> {
  await session.kysely.deleteFrom('comment').where('id', '=', id).execute();
}
