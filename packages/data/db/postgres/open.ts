import { setTimeout as delay } from 'node:timers/promises';
import type { ClientBase } from 'pg';
import type { DatabaseOptions, Pooler, ReadWork } from '../database.ts';
import { kyselyOver } from '../kysely.ts';
import { writeMetrics } from '../metrics.ts';
import { type HistoryTables, migrate, readMigrations, type SqlMigration } from '../migrations.ts';
import type { Query } from '../session.ts';
import { connectionMetrics } from './connection-metrics.ts';
import { PostgresDatabase } from './database.ts';
import {
  ConnectionLost,
  type ConstraintColumns,
  fromPostgresError,
  mustReconnect,
  startError,
  whileTransient,
} from './errors.ts';
import { PostgresPool, quoteName } from './pool.ts';
import { checkPooler } from './pooler.ts';
import { SchemaNames } from './schema-names.ts';
import { migrationTimeouts, requestTimeouts, streamTimeouts, timeoutSettings } from './timeouts.ts';
import {
  beginRead,
  ClientRunner,
  inTransaction,
  postgresTransaction,
  type StatementNames,
} from './transactions/session.ts';

/** Connections that a process has for requests, unless `DATABASE_CONNECTIONS` says otherwise. */
export const connectionsDefault = 8;
/** Time in which migrations run again after their connection was lost. */
const lostMs = 30_000;
const againMs = 500;

/** Most connections of a process with this number for requests: streams have half as many beside, and do not starve them. */
export function connectionsOfProcess(requests = connectionsDefault): number {
  return requests + streamsBeside(requests);
}

function streamsBeside(requests: number): number {
  return Math.ceil(requests / 2);
}

/** Opens the schema `name` of the database at `url`, migrated. */
export async function openPostgres<DB>(
  options: DatabaseOptions & { url: string },
): Promise<PostgresDatabase<DB>> {
  const { name: schema, url, pooler, directUrl, log, connections: max = connectionsDefault } = options;
  const place = { url, pooler, directUrl, log };
  // One stays open, so that there is one to wait for at the limit of the server.
  const pool = new PostgresPool({ ...place, max, min: 1, timeouts: requestTimeouts });
  const streamPool = new PostgresPool({ ...place, max: streamsBeside(max), timeouts: streamTimeouts });
  try {
    await checkPooler(url, pooler);
    await migrateInTurn(directUrl ? { url: directUrl } : { url, pooler }, options);
    const columns = await pool.use((client) => readConstraintColumns(client, schema));
    const names = new SchemaNames(schema, await pool.use((client) => readTables(client, schema)), pool);
    const metrics = writeMetrics(options.metrics, schema);
    connectionMetrics(options.metrics);
    return new PostgresDatabase<DB>({ schema, names, pool, streamPool, columns, metrics });
  } catch (error) {
    await Promise.all([pool[Symbol.asyncDispose](), streamPool[Symbol.asyncDispose]()]);
    throw startError(error, url) ?? fromPostgresError(error, new Map());
  }
}

/** Ends of the migrations that run, by server: a process migrates one database after another, with one connection. */
const migrating = new Map<string, Promise<void>>();

async function migrateInTurn(place: Place, options: DatabaseOptions): Promise<void> {
  const { url } = place;
  const turn = (migrating.get(url) ?? Promise.resolve()).then(() => migrateAt(place, options));
  const end = turn.catch(() => {});
  migrating.set(url, end);
  await turn.finally(() => {
    if (migrating.get(url) === end) migrating.delete(url);
  });
}

interface Place {
  readonly url: string;
  readonly pooler?: Pooler | undefined;
}

/**
 * A step over a large table takes longer than any statement of a request, so it has a connection of its own. What was lost with it is begun
 * again: the server restarted, or this machine stood still and the connection was taken for a frozen one.
 */
async function migrateAt(place: Place, options: DatabaseOptions): Promise<void> {
  const { name: schema, migrations: files, log } = options;
  const migrations = readMigrations(files, 'postgres');
  await using pool = new PostgresPool({ ...place, log, max: 1, timeouts: migrationTimeouts });
  const giveUpMs = performance.now() + lostMs;
  let hasBegun = false;
  for (;;) {
    try {
      // It may wait for requests of a running replica in a circle: each locks tables that the other needs next.
      await whileTransient(() =>
        pool.use((client) => {
          hasBegun = true;
          return inTransaction(client, 'BEGIN', () => migrateSchema(client, { schema, migrations, log }));
        }),
      );
      return;
    } catch (error) {
      const isLost = hasBegun && (error instanceof ConnectionLost || mustReconnect(error));
      if (!isLost || performance.now() > giveUpMs) throw startError(error, place.url) ?? error;
      log.warn({ err: error }, 'lost the connection of a migration, which begins again');
      await delay(againMs);
    }
  }
}

/**
 * Makes the schema if it is missing and runs the missing migrations, in the transaction that the connection is in. An advisory lock
 * makes other processes that start at the same time wait for its end.
 */
export async function migrateSchema(
  client: ClientBase,
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

/** Runs `work` in one read-only transaction on the schema as it is. Resolves to undefined where it has no tables. */
export async function readPostgres<DB, T>(
  { name: schema, url, pooler, log }: DatabaseOptions & { url: string },
  work: ReadWork<DB, T>,
): Promise<T | undefined> {
  try {
    await using pool = new PostgresPool({ url, pooler, log, max: 1, timeouts: requestTimeouts });
    return await pool.use((client) =>
      inTransaction(client, beginRead + pool.afterBegin, async () => {
        const tables = await readTables(client, schema);
        if (tables.length === 0) return undefined;
        const names = new SchemaNames(schema, tables, pool);
        const session = postgresTransaction<DB>(client, { schema, columns: new Map(), names });
        return session.run((inside) => work(inside, new Set(tables)));
      }),
    );
  } catch (error) {
    throw startError(error, url) ?? fromPostgresError(error, new Map());
  }
}

/** Lets the functions of triggers find the tables of their schema, for every caller. */
async function keepSearchPath(client: ClientBase, schema: string): Promise<void> {
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

/** Leaves statements as they are, for connections with a search path. */
export const asWritten: StatementNames = { inFull: (query: Query): Query => query };

/** Everything that has rows. */
async function readTables(client: ClientBase, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm')`,
    [schema],
  );
  return rows.map(({ name }) => name);
}

/** The columns of each unique index, which carries its constraint's name; an index on an expression has none. */
async function readConstraintColumns(client: ClientBase, schema: string): Promise<ConstraintColumns> {
  const { rows } = await client.query<{ name: string; columns: string }>(
    `SELECT c.relname AS name, coalesce(json_agg(a.attname ORDER BY a.attnum) FILTER (WHERE a.attname IS NOT NULL), '[]') AS columns
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
     WHERE i.indisunique AND n.nspname = $1 GROUP BY c.relname`,
    [schema],
  );
  return new Map(rows.map(({ name, columns }) => [name, JSON.parse(columns) as string[]]));
}
