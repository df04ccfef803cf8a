import { setTimeout as delay } from 'node:timers/promises';
import type { PoolClient } from 'pg';
import type { StreamOptions } from '../database.ts';
import type { Query, Row } from '../session.ts';
import { type ConstraintColumns, fromPostgresError } from './errors.ts';
import type { Lease, PostgresPool } from './pool.ts';
import { beginRead, runQuery, type StatementNames } from './transactions/session.ts';

const cancelEveryMs = 100;

interface StreamParts {
  readonly names: StatementNames;
  /** Cancels what computes in the other. */
  readonly pool: PostgresPool;
  readonly streamPool: PostgresPool;
  readonly columns: ConstraintColumns;
}

/** The rows of a read in batches through a cursor, in one snapshot; the next batch is fetched while one is consumed. */
export async function* streamRows(
  { names, pool, streamPool, columns }: StreamParts,
  query: Query,
  { batchRows, signal }: StreamOptions,
): AsyncGenerator<Row[]> {
  const lease = await leaseUnlessAborted(streamPool, signal).catch((error: unknown) => {
    throw fromPostgresError(error, columns);
  });
  const { client } = lease;
  const ended = new AbortController();
  let cancel = (): void => {};
  let failure: unknown;
  let ahead: Promise<Row[]> | undefined;
  try {
    const processId = await beginStream(client, streamPool);
    cancel = () => void cancelUntil(ended.signal, pool, processId);
    signal?.throwIfAborted();
    signal?.addEventListener('abort', cancel, { once: true });
    await runQuery(client, {
      ...query,
      sql: `DECLARE rows NO SCROLL CURSOR FOR ${names.inFull(query).sql}`,
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

/** Begins to read one snapshot, and returns the process that computes. The connection knows only one that a pooler makes up. */
async function beginStream(client: PoolClient, { afterBegin }: PostgresPool): Promise<number | undefined> {
  const begun = client.query(`${beginRead}${afterBegin}`);
  const [, { rows }] = await Promise.all([
    begun,
    client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'),
  ]);
  return rows[0]?.pid;
}

/** Cancels the running statement through another connection, repeatedly, because a cancel between two statements is lost. */
async function cancelUntil(
  ended: AbortSignal,
  pool: PostgresPool,
  processId: number | undefined,
): Promise<void> {
  while (!ended.aborted) {
    await pool.use((other) => other.query('SELECT pg_cancel_backend($1)', [processId])).catch(() => {});
    await delay(cancelEveryMs, undefined, { signal: ended }).catch(() => {});
  }
}
