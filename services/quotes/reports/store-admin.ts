import { sql } from 'kysely';
import type { WriteSession } from '#kit/db/index.ts';
import { setPublished } from '../quotes/index.ts';
import type { Tables } from '../tables.ts';

/** Open reports before all others. */
export const isOpen = sql<number>`CASE report.status WHEN 'open' THEN 1 ELSE 0 END`;

/** Answers reports by doing something to their quotes, which also answers what else is open about these. */
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
  if (answer === 'withdraw') await setPublished(session, { ids: quotes, isPublished: false, nowMs });
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
