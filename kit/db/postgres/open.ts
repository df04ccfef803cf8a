import type { PoolClient } from 'pg';
import type { DatabaseOptions, Pooler } from '../database.ts';
import { kyselyOver } from '../kysely.ts';
import { writeMetrics } from '../metrics.ts';
import { type HistoryTables, migrate, readMigrations, type SqlMigration } from '../migrations.ts';
import type { Query } from '../session.ts';
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
import { checkPooler } from './pooler.ts';
import { SchemaNames } from './schema-names.ts';
import { ClientRunner, inTransaction } from './session.ts';

/** Several services share a server that accepts 100 connections by default. */
const connectionsMax = 8;
const streamConnectionsMax = 4;

/** Opens the schema `name` of the database at `url`, migrated. */
export async function openPostgres<DB>(
  options: DatabaseOptions & { url: string },
): Promise<PostgresDatabase<DB>> {
  const { name: schema, url, pooler, directUrl, log } = options;
  const place = { url, pooler, directUrl, name: schema, log };
  const pool = new PostgresPool({ ...place, max: connectionsMax, timeouts: requestTimeouts });
  const streamPool = new PostgresPool({ ...place, max: streamConnectionsMax, timeouts: streamTimeouts });
  try {
    await checkPooler(url, pooler);
    await migrateAt(directUrl ? { url: directUrl } : { url, pooler }, options);
    const columns = await pool.use((client) => readConstraintColumns(client, schema));
    const names = new SchemaNames(schema, await pool.use((client) => readTables(client, schema)), pool);
    const metrics = writeMetrics(options.metrics, schema);
    return new PostgresDatabase<DB>({ schema, names, pool, streamPool, columns, metrics });
  } catch (error) {
    await Promise.all([pool[Symbol.asyncDispose](), streamPool[Symbol.asyncDispose]()]);
    throw startError(error, url) ?? fromPostgresError(error, new Map());
  }
}

/** A step over a large table takes longer than any statement of a request, so it has a connection of its own. */
async function migrateAt(
  place: { readonly url: string; readonly pooler?: Pooler | undefined },
  { name: schema, migrations: files, log }: DatabaseOptions,
): Promise<void> {
  const migrations = readMigrations(files, 'postgres');
  await using pool = new PostgresPool({ ...place, name: schema, log, max: 1, timeouts: migrationTimeouts });
  try {
    // It may wait for requests of a running replica in a circle: each locks tables that the other needs next.
    await whileTransient(() =>
      pool.use((client) =>
        inTransaction(client, 'BEGIN', () => migrateSchema(client, { schema, migrations, log })),
      ),
    );
  } catch (error) {
    throw startError(error, place.url) ?? error;
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
  await client.query(`${timeoutSettings('SET LOCAL', migrationTimeouts)}; ${searchPath(schema)}`);
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`migrate:${schema}`]);
  // Only where it is missing: the role may lack the right to create one.
  const { rowCount } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (rowCount === 0) await client.query(`CREATE SCHEMA ${quoteName(schema)}`);
  const kysely = kyselyOver<HistoryTables>('postgres', new ClientRunner(client, asWritten));
  await migrate({ kysely, runScript: (sql) => client.query(sql), migrations, schema, log });
  await keepSearchPath(client, schema);
}

/** Lets the functions of triggers find the tables of their schema, whoever calls them. */
async function keepSearchPath(client: PoolClient, schema: string): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT p.oid::regprocedure AS name FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
     WHERE p.pronamespace = $1::regnamespace AND l.lanname IN ('plpgsql', 'sql') AND p.prokind = 'f'
       AND coalesce(array_to_string(p.proconfig, ' '), '') NOT LIKE '%search_path=%'`,
    [quoteName(schema)],
  );
  for (const { name } of rows) await client.query(`ALTER FUNCTION ${name} SET search_path FROM CURRENT`);
}

/** The files of migrations leave out the schema, so that each service has tables of its own. */
export function searchPath(schema: string): string {
  return `SET LOCAL search_path TO ${quoteName(schema)}`;
}

const asWritten = { inFull: (query: Query): Query => query };

/** Everything that has rows. */
async function readTables(client: PoolClient, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p', 'v', 'm')`,
    [quoteName(schema)],
  );
  return rows.map(({ name }) => name);
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
