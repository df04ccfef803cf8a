import { sql } from 'kysely';
import { type Database, keyShare, statement } from '#kit/db/index.ts';
import { notFound } from '#kit/errors.ts';
import type { Tables } from '../tables.ts';
import type { Reason, Report } from './report.ts';

type NewReport = { quoteId: number; userId: number; reason: Reason; note: string; nowMs: number };

const openReport = statement<Tables, { quoteId: number; userId: number }>()((db, p) =>
  db
    .selectFrom('report')
    .select('id')
    .where('quote_id', '=', p('quoteId'))
    .where('user_id', '=', p('userId'))
    .where('status', '=', 'open'),
);

const putReport = statement<Tables, NewReport>()(
  (_db, p, dialect) => sql<{
    id: number;
  }>`INSERT INTO report (quote_id, user_id, reason, note, status, created_at_ms)
    SELECT id, CAST(${p('userId')} AS integer), CAST(${p('reason')} AS text), CAST(${p('note')} AS text), 'open',
      CAST(${p('nowMs')} AS bigint)
    FROM quote WHERE id = ${p('quoteId')} AND is_published = 1 ${keyShare(dialect, 'quote')}
    ON CONFLICT (quote_id, user_id) WHERE status = 'open'
      DO UPDATE SET reason = excluded.reason, note = excluded.note RETURNING id`,
);

/**
 * Puts a report of a published quote into the queue, in place of an open one by the same reader. `isNew` tells which. Throws
 * `not_found`.
 */
export function reportQuote(
  database: Database<Tables>,
  report: NewReport,
): Promise<Report & { isNew: boolean }> {
  const { quoteId, userId, reason, note } = report;
  return database.write(async (session) => {
    const before = await openReport.first(session, { quoteId, userId });
    const put = await putReport.first(session, report);
    if (!put) throw notFound('quote', quoteId);
    return { id: put.id, quote: quoteId, reason, note, isNew: before === undefined };
  });
}
