import { sql } from 'kysely';
import { type Session, statement } from '#kit/db/index.ts';
import type { SegmentRow, Tables } from '../tables.ts';
import { keyOrder } from './pages.ts';

/** A range of ids whose posts are indexed together. A segment never changes; it is replaced by another. */
export interface Segment {
  readonly id: number;
  /** The id at place 0. */
  readonly firstId: number;
  /** How many places it has, posts or not. */
  readonly span: number;
}

/** The segments in force, by ascending ids; they lie one after another from id 0. */
export function liveSegments(session: Session<Tables>): Promise<Segment[]> {
  return live.all(session, {});
}

/** The first id that no segment covers. */
export function endOf(segments: readonly Segment[]): number {
  const last = segments.at(-1);
  return last ? last.firstId + last.span : 0;
}

/** Posts that are not as their segment knows them. */
export async function staleIds(session: Session<Tables>): Promise<number[]> {
  return (await stale.all(session, {})).map(({ post_id }) => post_id);
}

/** All pages of one kind of a segment. */
export async function pagesOf(
  session: Session<Tables>,
  segmentId: number,
  kind: number,
): Promise<Uint8Array[]> {
  return (await pages.all(session, { segmentId, kind })).map(({ data }) => data);
}

/** The pages that may have keys from `low` to `high`. */
export async function pagesWith(
  session: Session<Tables>,
  range: { segmentId: number; kind: number; low: string; high: string },
): Promise<Uint8Array[]> {
  const [low, high] = [keyOrder(range.low), keyOrder(range.high)];
  return (await pagesInRange.all(session, { ...range, low, high })).map(({ data }) => data);
}

const live = statement<Tables, Record<never, never>, Segment>((db) =>
  db
    .selectFrom('search_segment')
    .select(['id', 'first_id as firstId', 'span'])
    .where('state', '=', sql.lit<SegmentRow['state']>('live'))
    .orderBy('first_id'),
);

const stale = statement<Tables, Record<never, never>, { post_id: number }>((db) =>
  db.selectFrom('search_stale').select('post_id').orderBy('post_id'),
);

const pages = statement<Tables, { segmentId: number; kind: number }, { data: Uint8Array }>((db, p) =>
  db
    .selectFrom('search_page')
    .select('data')
    .where('segment_id', '=', p('segmentId'))
    .where('kind', '=', p('kind'))
    .orderBy('first_key'),
);

const pagesInRange = statement<
  Tables,
  { segmentId: number; kind: number; low: Uint8Array; high: Uint8Array },
  { data: Uint8Array }
>(
  (_db, p) => sql`SELECT data FROM search_page
    WHERE segment_id = ${p('segmentId')} AND kind = ${p('kind')} AND first_key <= ${p('high')}
      AND first_key >= coalesce((SELECT max(first_key) FROM search_page WHERE segment_id = ${p('segmentId')}
        AND kind = ${p('kind')} AND first_key <= ${p('low')}), x'')
    ORDER BY first_key`,
);
