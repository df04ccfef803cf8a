import type { PoolClient } from 'pg';
import type { DatabaseOptions } from '../database.ts';
import { writeMetrics } from '../metrics.ts';
import { readMigrations } from '../migrations.ts';
import { PostgresDatabase } from './database.ts';
import { type ConstraintColumns, fromPostgresError } from './errors.ts';
import { migrate } from './migrate.ts';
import { PostgresPool } from './pool.ts';

/** Several services share a server that accepts 100 connections by default. */
const connectionsMax = 8;
const longConnectionsMax = 4;

/** Opens the schema `name` of the database at `url`, migrated. */
export async function openPostgres<DB>(
  options: DatabaseOptions & { url: string },
): Promise<PostgresDatabase<DB>> {
  const { name: schema, url, log } = options;
  const migrations = readMigrations(options.migrations, 'postgres');
  const pool = new PostgresPool({ url, schema, log, max: connectionsMax });
  const longPool = new PostgresPool({ url, schema, log, max: longConnectionsMax });
  try {
    await pool.use((client) => migrate(client, { schema, migrations, log }));
    const columns = await pool.use((client) => readConstraintColumns(client, schema));
    return new PostgresDatabase<DB>({
      schema,
      pool,
      longPool,
      columns,
      metrics: writeMetrics(options.metrics, schema),
    });
  } catch (error) {
    await Promise.all([pool[Symbol.asyncDispose](), longPool[Symbol.asyncDispose]()]);
    throw fromPostgresError(error, new Map());
  }
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
