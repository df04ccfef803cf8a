import type { PoolClient } from 'pg';
import type { DatabaseOptions } from '../database.ts';
import { kyselyOver } from '../kysely.ts';
import { writeMetrics } from '../metrics.ts';
import { type HistoryTables, migrate, readMigrations, type SqlMigration } from '../migrations.ts';
import { PostgresDatabase } from './database.ts';
import { type ConstraintColumns, fromPostgresError, startError, whileTransient } from './errors.ts';
import {
  migrationTimeouts,
  PostgresPool,
  quoteName,
  requestTimeouts,
  streamTimeouts,
  timeoutSettings,
} from './pool.ts';
import { refuseTransactionPooler } from './pooler.ts';
import { ClientRunner, inTransaction } from './session.ts';

/** Several services share a server that accepts 100 connections by default. */
const connectionsMax = 8;
const streamConnectionsMax = 4;

/** Opens the schema `name` of the database at `url`, migrated. */
export async function openPostgres<DB>(
  options: DatabaseOptions & { url: string },
): Promise<PostgresDatabase<DB>> {
  const { name: schema, url, log } = options;
  const migrations = readMigrations(options.migrations, 'postgres');
  const pool = new PostgresPool({ url, schema, log, max: connectionsMax, timeouts: requestTimeouts });
  const streamPool = new PostgresPool({
    url,
    schema,
    log,
    max: streamConnectionsMax,
    timeouts: streamTimeouts,
  });
  try {
    await refuseTransactionPooler(url);
    // A step over a large table takes longer than any statement of a request.
    await using migrating = new PostgresPool({ url, schema, log, max: 1, timeouts: migrationTimeouts });
    // It may wait for requests of a running replica in a circle: each locks tables that the other needs next.
    await whileTransient(() =>
      migrating.use((client) =>
        inTransaction(client, 'BEGIN', () => migrateSchema(client, { schema, migrations, log })),
      ),
    );
    const columns = await pool.use((client) => readConstraintColumns(client, schema));
    const metrics = writeMetrics(options.metrics, schema);
    return new PostgresDatabase<DB>({ schema, pool, streamPool, columns, metrics });
  } catch (error) {
    await Promise.all([pool[Symbol.asyncDispose](), streamPool[Symbol.asyncDispose]()]);
    throw startError(error, url) ?? fromPostgresError(error, new Map());
  }
}

/**
 * Makes the schema if it is missing and runs the missing migrations, in the transaction that the connection is in. An advisory lock
 * makes other processes that start at the same time wait for its end.
 */
export async function migrateSchema(
  client: PoolClient,
  {
    schema,
    migrations,
    log,
  }: { schema: string; migrations: readonly SqlMigration[] } & Pick<DatabaseOptions, 'log'>,
): Promise<void> {
  await client.query(timeoutSettings('SET LOCAL', migrationTimeouts));
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`migrate:${schema}`]);
  // Only where it is missing: the role may lack the right to create one.
  const { rowCount } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (rowCount === 0) await client.query(`CREATE SCHEMA ${quoteName(schema)}`);
  const kysely = kyselyOver<HistoryTables>('postgres', new ClientRunner(client));
  await migrate({ kysely, runScript: (sql) => client.query(sql), migrations, schema, log });
}

/** The columns of each unique index, which carries its constraint's name; an index on an expression has none. */
async function readConstraintColumns(client: PoolClient, schema: string): Promise<ConstraintColumns> {
  const { rows } = await client.query<{ name: string; columns: string }>(
    `SELECT c.relname AS name, coalesce(json_agg(a.attname ORDER BY a.attnum) FILTER (WHERE a.attname IS NOT NULL), '[]') AS columns
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
     WHERE i.indisunique AND n.nspname = $1 GROUP BY c.relname`,
    [schema],
  );
  return new Map(rows.map(({ name, columns }) => [name, JSON.parse(columns) as string[]]));
}
