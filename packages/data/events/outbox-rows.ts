import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../db/index.ts';
import { type EventTables, lastRow, type OutboxRow, rowsAfter, seqsUpTo } from './outbox-statements.ts';

/** Transactions that append share it from before they take a number until they have ended. */
export const outboxLock = 'events';

/** Waits between looks at transactions that are under way: most end at once, and one that stands still is not worth many. */
const firstLookMs = 5;
const looksMostMs = 100;
/** Rows beyond what transactions ever append at the same time. */
const recentRows = 1_000;

/**
 * The rows after a position, at most `limit`; none only if there are none. Transactions take their numbers before they commit, so a number
 * that is missing may still come: it is waited for until all transactions that could have taken it have ended. On SQLite nothing is
 * missing but what was deleted.
 */
export async function readRows(
  database: Database<EventTables>,
  { position, limit }: { position: number; limit: number },
  signal: AbortSignal,
): Promise<OutboxRow[]> {
  const rows = await rowsAfter(database, position, limit);
  const next = withoutGap(rows, position);
  const last = rows.at(-1);
  if (next.length > 0 || !last) return next;
  for await (const left of ending(database, signal)) {
    const now = await rowsAfter(database, position, limit);
    const come = withoutGap(now, position);
    if (come.length > 0) return come;
    if (left === 0) return now.filter(({ seq }) => seq <= last.seq);
  }
  return [];
}

/** The number of the last row, and the rows up to it that were not committed yet but are now. */
export async function beginReading(
  database: Database<EventTables>,
  signal: AbortSignal,
): Promise<{ readonly position: number; readonly late: readonly OutboxRow[] }> {
  const position = (await lastRow(database))?.seq ?? 0;
  const before = new Set(await seqsUpTo(database, position, recentRows));
  const first = Math.min(position + 1, ...before);
  if (position - first + 1 === before.size) return { position, late: [] };
  for await (const _left of ending(database, signal));
  const rows = await rowsAfter(database, first, recentRows);
  return { position, late: rows.filter(({ seq }) => seq < position && !before.has(seq)) };
}

/** Number of the transactions that append at first and still do, again and again until there is none. */
async function* ending(database: Database<EventTables>, signal: AbortSignal): AsyncGenerator<number> {
  let waitMs = firstLookMs;
  for (let left = await database.sharers(outboxLock); ; ) {
    yield left.size;
    if (left.size === 0) return;
    await delay(waitMs, undefined, { signal });
    waitMs = Math.min(looksMostMs, waitMs * 2);
    left = (await database.sharers(outboxLock)).intersection(left);
  }
}

/** The rows whose numbers follow one another from the position on. */
function withoutGap(rows: readonly OutboxRow[], position: number): OutboxRow[] {
  const gap = rows.findIndex(({ seq }, index) => seq !== position + 1 + index);
  return rows.slice(0, gap === -1 ? undefined : gap);
}
