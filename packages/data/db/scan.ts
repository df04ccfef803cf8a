import type { Compilable, RawBuilder, SelectQueryBuilder } from 'kysely';
import type { Database } from './database.ts';
import type { Session } from './session.ts';

/** Most rows that a read may touch on the event loop of SQLite. */
const rowsOnLoopMax = 10_000;
const batchRows = 1_000;

/** Place of a read that may touch many rows. */
export interface ScanPlace<DB> {
  readonly database: Database<DB>;
  /** Runs the read if it touches few rows: the database itself, or one of its snapshots. */
  readonly session: Session<DB>;
  /** Bound of the rows that it may touch, such as a counter of all rows of an account. */
  readonly touched: number;
}

/** Place of a read that touches all rows of another, of which there is no counter: looks if there are more than 10,000. */
export async function placeFor<DB>(
  database: Database<DB>,
  session: Session<DB>,
  // biome-ignore lint/suspicious/noExplicitAny: any tables
  rows: SelectQueryBuilder<DB, any, unknown>,
): Promise<ScanPlace<DB>> {
  const next = rows.limit(1).offset(rowsOnLoopMax);
  const isLarge = database.dialect === 'sqlite' && (await next.execute()).length > 0;
  return { database, session, touched: isLarge ? Number.POSITIVE_INFINITY : rowsOnLoopMax };
}

/**
 * The rows of a read that may touch many others, to filter, sort or add them up. SQLite computes on the event loop, so a read that may touch
 * more than 10,000 runs in a thread of the streams there, in a snapshot of its own; other requests do not wait for it.
 */
export async function scan<DB, R>(
  query: Compilable<R> | RawBuilder<R>,
  { database, session, touched }: ScanPlace<DB>,
): Promise<R[]> {
  if (database.dialect === 'sqlite' && touched > rowsOnLoopMax) {
    const batches = await Array.fromAsync(database.stream<R>(query, { batchRows }));
    return batches.flat();
  }
  if ('isRawBuilder' in query) return (await query.execute(session.kysely)).rows;
  return (await session.kysely.executeQuery(query.compile())).rows;
}
