import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Kysely } from 'kysely';
import { type MigrationProvider, Migrator } from 'kysely/migration';
import { AppError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Dialect } from './session.ts';

/** One step of a schema, from a file `NNNN_name.sql` or `NNNN_name.<dialect>.sql`. */
export interface SqlMigration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, in hex; line ends count as LF. */
  readonly checksum: string;
}

/** A migration that a database has had. */
export type AppliedMigration = Pick<SqlMigration, 'version' | 'name' | 'checksum'>;

/** The tables that remember migrations: ours with checksums, and those of Kysely's migrator. */
export const historyTables = ['schema_migration', 'kysely_migration', 'kysely_migration_lock'];

export interface HistoryTables {
  schema_migration: AppliedMigration & { applied_at_ms: number };
}

export interface MigrateOptions {
  /** Runs on the connection whose transaction holds the lock for migrations. */
  readonly kysely: Kysely<HistoryTables>;
  /** Runs the statements of a file in the same transaction. */
  readonly runScript: (sql: string) => unknown;
  readonly migrations: readonly SqlMigration[];
  /** The schema on PostgreSQL. */
  readonly schema?: string;
  readonly log: Log;
}

/** The migrations of a folder for one database, by version. Throws where two share a version or a file is misnamed. */
export function readMigrations(folder: URL, dialect: Dialect): SqlMigration[] {
  const migrations = new Map<number, SqlMigration>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.sql'))) {
    const match = /^(\d{4})_([a-z0-9_-]+)(?:\.(sqlite|postgres))?\.sql$/.exec(file);
    if (match === null) throw new Error(`${file} is no migration: it must be named NNNN_name.sql`);
    if (match[3] !== undefined && match[3] !== dialect) continue;
    const version = Number(match[1]);
    if (migrations.has(version)) throw new Error(`two migrations have version ${match[1]}`);
    const sql = readFileSync(new URL(file, asFolder(folder)), 'utf8').replaceAll('\r\n', '\n');
    const checksum = createHash('sha256').update(sql).digest('hex');
    migrations.set(version, { version, name: match[2] as string, sql, checksum });
  }
  return [...migrations.values()].sort((a, b) => a.version - b.version);
}

/**
 * Runs the missing migrations with Kysely's migrator, inside the caller's transaction, and gives how many there were. Throws
 * `precondition_failed` where {@link checkHistory} does.
 */
export async function migrate(options: MigrateOptions): Promise<number> {
  const { kysely, runScript, migrations, schema, log } = options;
  await runScript(`CREATE TABLE IF NOT EXISTS schema_migration (
    version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at_ms bigint NOT NULL)`);
  const history = await kysely.selectFrom('schema_migration').selectAll().orderBy('version').execute();
  checkHistory(migrations, history);
  const provider = provideMigrations(migrations, async (db, { version, name, sql, checksum }) => {
    // It ran before this table had Kysely's beside it, so the migrator does not know of it yet.
    if (history.some((applied) => applied.version === version)) return;
    await runScript(sql);
    const applied = { version, name, checksum, applied_at_ms: Date.now() };
    await db.insertInto('schema_migration').values(applied).execute();
    log.info({ version, migration: name }, 'migration applied');
  });
  const place = schema === undefined ? {} : { migrationTableSchema: schema };
  const migrator = new Migrator({ db: kysely, provider, disableTransactions: true, ...place });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  return migrations.length - history.length;
}

/**
 * Refuses, as `precondition_failed`, a database that a newer version has migrated, and files that were edited, inserted or
 * removed after they had run.
 */
export function checkHistory(
  migrations: readonly SqlMigration[],
  history: readonly AppliedMigration[],
): void {
  const newest = migrations.at(-1)?.version ?? 0;
  for (const { version, name, checksum } of history) {
    const migration = migrations.find((candidate) => candidate.version === version);
    if (version > newest) {
      throw schemaError(
        `the database is at schema version ${version} (${name}), newer than this program's ${newest}: upgrade it`,
      );
    }
    if (!migration) throw schemaError(`migration ${version} (${name}) has run but its file is gone`);
    if (migration.checksum !== checksum) {
      throw schemaError(`migration ${version} (${name}) was edited after it had run`);
    }
  }
  const reached = history.at(-1)?.version ?? 0;
  const late = migrations.find(
    ({ version }) => version < reached && !history.some((applied) => applied.version === version),
  );
  if (late)
    throw schemaError(`migration ${late.version} (${late.name}) comes before ${reached}, which has run`);
}

function provideMigrations(
  migrations: readonly SqlMigration[],
  run: (db: Kysely<HistoryTables>, migration: SqlMigration) => Promise<void>,
): MigrationProvider {
  const byName = Object.fromEntries(
    migrations.map((migration) => {
      const number = String(migration.version).padStart(4, '0');
      return [`${number}_${migration.name}`, { up: (db: Kysely<HistoryTables>) => run(db, migration) }];
    }),
  );
  return { getMigrations: async () => byName };
}

function schemaError(message: string): AppError {
  return new AppError('precondition_failed', message, { reason: 'SCHEMA' });
}

function asFolder(url: URL): URL {
  return url.pathname.endsWith('/') ? url : new URL(`${url.href}/`);
}
