import { notFound } from '@octavo/core';
import { type Database, keyShare, type WriteSession } from '@octavo/data';
import { sql } from 'kysely';
import { withdraw } from '../quotes/index.ts';
import type { Store, Tables } from '../tables.ts';
import type { Reason, Report } from './report.ts';

type NewReport = { quoteId: number; userId: number; reason: Reason; note: string; nowMs: number };

async function putReport({ kysely, dialect }: Store, { userId, reason, note, nowMs, quoteId }: NewReport) {
  const { rows } = await sql<{
    id: number;
  }>`INSERT INTO report (quote_id, user_id, reason, note, status, created_at_ms)
    SELECT id, CAST(${userId} AS integer), CAST(${reason} AS text), CAST(${note} AS text), 'open',
      CAST(${nowMs} AS bigint)
    FROM quote WHERE id = ${quoteId} AND is_published = 1 ${keyShare(dialect, 'quote')}
    ON CONFLICT (quote_id, user_id) WHERE status = 'open'
      DO UPDATE SET reason = excluded.reason, note = excluded.note RETURNING id`.execute(kysely);
  return rows[0];
}

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
    const before = await session.kysely
      .selectFrom('report')
      .select('id')
      .where('quote_id', '=', quoteId)
      .where('user_id', '=', userId)
      .where('status', '=', 'open')
      .executeTakeFirst();
    const put = await putReport(session, report);
    if (!put) throw notFound('quote', quoteId);
    return { id: put.id, quote: quoteId, reason, note, isNew: before === undefined };
  });
}

/** Open reports before all others. */
export const isOpen = sql<number>`CASE report.status WHEN 'open' THEN 1 ELSE 0 END`;

/** Resolves reports by changing their quotes, which also resolves other open reports of these quotes. */
export async function answerReports(
  session: WriteSession<Tables>,
  { ids, answer, nowMs }: { ids: readonly number[]; answer: 'withdraw' | 'misattributed'; nowMs: number },
): Promise<void> {
  const rows = await session.kysely
    .selectFrom('report')
    .select('quote_id')
    .distinct()
    .where('id', 'in', [...ids])
    .execute();
  const quotes = rows.map((row) => row.quote_id);
  if (quotes.length === 0) return;
  if (answer === 'withdraw') await withdraw(session, { ids: quotes, nowMs });
  else {
    await session.kysely
      .updateTable('quote')
      .set({ attribution: 'misattributed', updated_at_ms: nowMs })
      .where('id', 'in', quotes)
      .execute();
  }
  await session.kysely
    .updateTable('report')
    .set({ status: 'resolved' })
    .where((e) => e.or([e('id', 'in', [...ids]), e('quote_id', 'in', quotes)]))
    .where('status', '=', 'open')
    .execute();
}
