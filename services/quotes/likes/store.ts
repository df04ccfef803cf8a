import { notFound } from '@octavo/core';
import { type Database, keyShare, type Session } from '@octavo/data';
import { sql } from 'kysely';
import type { Store, Tables } from '../tables.ts';

export interface Like {
  readonly id: number;
  readonly quote: number;
}

type LikeKey = { quoteId: number; userId: number };

async function insertLike(
  { kysely, dialect }: Store,
  { userId, nowMs, quoteId }: LikeKey & { nowMs: number },
) {
  const { rows } = await sql<{ id: number }>`INSERT INTO quote_like (quote_id, user_id, created_at_ms)
    SELECT id, CAST(${userId} AS integer), CAST(${nowMs} AS bigint) FROM quote
    WHERE id = ${quoteId} AND is_published = 1 ${keyShare(dialect, 'quote')}
    ON CONFLICT (quote_id, user_id) DO NOTHING RETURNING id`.execute(kysely);
  return rows[0];
}

function likeOf({ kysely }: Store, { quoteId, userId }: LikeKey) {
  return kysely
    .selectFrom('quote_like')
    .select('id')
    .where('quote_id', '=', quoteId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

/** A reader's like of a published quote, and whether it is new: at most one a reader. Throws `not_found`. */
export async function likeQuote(
  database: Database<Tables>,
  like: LikeKey & { nowMs: number },
): Promise<Like & { isNew: boolean }> {
  for (;;) {
    const made = await insertLike(database, like);
    if (made) return { id: made.id, quote: like.quoteId, isNew: true };
    const known = await likeOf(database, like);
    if (known) return { id: known.id, quote: like.quoteId, isNew: false };
    // There is no such quote, or the reader took the like back between the two statements.
    const row = await database.kysely
      .selectFrom('quote')
      .select('id')
      .where('id', '=', like.quoteId)
      .where('is_published', '=', 1)
      .executeTakeFirst();
    if (!row) throw notFound('quote', like.quoteId);
  }
}

/** Takes a like back; there may be none. */
export async function unlikeQuote(database: Database<Tables>, like: LikeKey): Promise<void> {
  await database.kysely
    .deleteFrom('quote_like')
    .where('quote_id', '=', like.quoteId)
    .where('user_id', '=', like.userId)
    .execute();
}

/** Returns true if a reader likes a quote. */
export async function likes(session: Session<Tables>, like: LikeKey): Promise<boolean> {
  return (await likeOf(session, like)) !== undefined;
}
