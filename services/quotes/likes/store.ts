import { sql } from 'kysely';
import { type Database, keyShare, type Session, statement } from '#kit/db/index.ts';
import { notFound } from '#kit/errors.ts';
import type { Tables } from '../tables.ts';

export interface Like {
  readonly id: number;
  readonly quote: number;
}

type LikeKey = { quoteId: number; userId: number };

const insertLike = statement<Tables, LikeKey & { nowMs: number }>()(
  (_db, p, dialect) => sql<{ id: number }>`INSERT INTO quote_like (quote_id, user_id, created_at_ms)
    SELECT id, CAST(${p('userId')} AS integer), CAST(${p('nowMs')} AS bigint) FROM quote
    WHERE id = ${p('quoteId')} AND is_published = 1 ${keyShare(dialect, 'quote')}
    ON CONFLICT (quote_id, user_id) DO NOTHING RETURNING id`,
);

const likeOf = statement<Tables, LikeKey>()((db, p) =>
  db
    .selectFrom('quote_like')
    .select('id')
    .where('quote_id', '=', p('quoteId'))
    .where('user_id', '=', p('userId')),
);

const deleteLike = statement<Tables, LikeKey>()((db, p) =>
  db.deleteFrom('quote_like').where('quote_id', '=', p('quoteId')).where('user_id', '=', p('userId')),
);

/** A reader's like of a published quote, and whether it is new: at most one a reader. Throws `not_found`. */
export async function likeQuote(
  database: Database<Tables>,
  like: LikeKey & { nowMs: number },
): Promise<Like & { isNew: boolean }> {
  const made = await insertLike.first(database, like);
  if (made) return { id: made.id, quote: like.quoteId, isNew: true };
  const known = await likeOf.first(database, like);
  if (!known) throw notFound('quote', like.quoteId);
  return { id: known.id, quote: like.quoteId, isNew: false };
}

/** Takes a like back; there may be none. */
export async function unlikeQuote(database: Database<Tables>, like: LikeKey): Promise<void> {
  await deleteLike.run(database, like);
}

/** Whether a reader likes a quote. */
export async function likes(session: Session<Tables>, like: LikeKey): Promise<boolean> {
  return (await likeOf.first(session, like)) !== undefined;
}
