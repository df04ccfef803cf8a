import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { StreamOptions } from '../database.ts';
import type { Query, Row } from '../session.ts';
import { type ConstraintColumns, fromPostgresError } from './errors.ts';
import type { Lease, PostgresPool } from './pool.ts';
import { runQuery } from './session.ts';

const cancelEveryMs = 100;

interface StreamParts {
  /** Cancels what computes in the other. */
  readonly pool: PostgresPool;
  readonly streamPool: PostgresPool;
  readonly columns: ConstraintColumns;
}

/** The rows of a read in batches through a cursor, in one snapshot; the next batch is fetched while one is consumed. */
export async function* streamRows(
  { pool, streamPool, columns }: StreamParts,
  query: Query,
  { batchRows, signal }: StreamOptions,
): AsyncGenerator<Row[]> {
  const lease = await leaseUnlessAborted(streamPool, signal).catch((error: unknown) => {
    throw fromPostgresError(error, columns);
  });
  const { client } = lease;
  const ended = new AbortController();
  const cancel = (): void => void cancelUntil(ended.signal, pool, client);
  signal?.addEventListener('abort', cancel, { once: true });
  let failure: unknown;
  let ahead: Promise<Row[]> | undefined;
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    await runQuery(client, {
      ...query,
      sql: `DECLARE rows NO SCROLL CURSOR FOR ${query.sql}`,
      name: undefined,
    });
    ahead = fetchRows(client, batchRows);
    for (;;) {
      const rows = await ahead;
      signal?.throwIfAborted();
      if (rows.length === 0) return;
      ahead = fetchRows(client, batchRows);
      yield rows;
      signal?.throwIfAborted();
    }
  } catch (error) {
    failure = error;
    throw signal?.aborted ? signal.reason : fromPostgresError(lease.explain(error), columns);
  } finally {
    await ahead?.catch(() => {});
    signal?.removeEventListener('abort', cancel);
    ended.abort();
    await client.query('ROLLBACK').catch(() => {});
    // A cancel that is still on its way must not hit who has the connection next.
    lease.release(failure, signal?.aborted);
  }
}

/** A connection from the pool; one that comes after the signal goes back at once. */
async function leaseUnlessAborted(pool: PostgresPool, signal: AbortSignal | undefined): Promise<Lease> {
  signal?.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const leased = pool.lease();
  try {
    return await Promise.race([leased, aborted]);
  } catch (error) {
    leased.then((lease) => lease.release()).catch(() => {});
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

function fetchRows(client: PoolClient, batchRows: number): Promise<Row[]> {
  const rows = client.query<Row>(`FETCH ${batchRows} FROM rows`).then((result) => result.rows);
  // It may fail while the consumer still has the batch before it. The next await sees the error.
  rows.catch(() => {});
  return rows;
}

/** Cancels the running statement through another connection, repeatedly, because a cancel between two statements is lost. */
async function cancelUntil(ended: AbortSignal, pool: PostgresPool, client: PoolClient): Promise<void> {
  const { processID } = client as PoolClient & { processID: number };
  while (!ended.aborted) {
    await pool.use((other) => other.query('SELECT pg_cancel_backend($1)', [processID])).catch(() => {});
    await delay(cancelEveryMs, undefined, { signal: ended }).catch(() => {});
  }
}
