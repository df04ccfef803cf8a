import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Log } from '@octavo/core';
import { AppError, productVersion } from '@octavo/core';
import type { Kysely } from 'kysely';
import { type MigrationProvider, Migrator } from 'kysely/migration';
import type { Dialect } from './session.ts';

/** Migrations that a package brings into the database of a service. */
export interface PackageMigrations {
  readonly folder: URL;
  /** Starts the name of each, such as `accounts`. */
  readonly prefix: string;
  /** Added to the number of each file: a multiple of 10,000 that no other package has, never changed after a release. */
  readonly versionsFrom: number;
}

/**
 * The migrations of a service: one folder, or its folder and those of packages. Those of packages run first, so that the
 * tables of the service may refer to theirs; each part has its own sequence of numbers.
 */
export type Migrations = URL | readonly (URL | PackageMigrations)[];

/** One step of a schema, from a file `NNNN_name.sql` or `NNNN_name.<dialect>.sql`. */
export interface SqlMigration {
  /** The number of the file; for a package, added to {@link PackageMigrations.versionsFrom}. */
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

/** The migrations for one database, in the order in which they run. Throws where two share a version or a file is misnamed. */
export function readMigrations(from: Migrations, dialect: Dialect): SqlMigration[] {
  const parts = from instanceof URL ? [from] : from;
  const packages = parts
    .filter((part): part is PackageMigrations => !(part instanceof URL))
    .sort((a, b) => a.versionsFrom - b.versionsFrom);
  const folders = parts.filter((part): part is URL => part instanceof URL);
  const shared = packages.find((each, index) => each.versionsFrom === packages[index + 1]?.versionsFrom);
  if (folders.length > 1 || shared) throw new Error('two folders of migrations use the same versions');
  return [...packages, ...folders.map((folder) => ({ folder, prefix: '', versionsFrom: 0 }))].flatMap(
    (part) => readFolder(part, dialect),
  );
}

function readFolder({ folder, prefix, versionsFrom }: PackageMigrations, dialect: Dialect): SqlMigration[] {
  const migrations = new Map<number, SqlMigration>();
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.sql'))) {
    const match = /^(\d{4})_([a-z0-9_-]+)(?:\.(sqlite|postgres))?\.sql$/.exec(file);
    if (match === null) throw new Error(`${file} is no migration: it must be named NNNN_name.sql`);
    if (match[3] !== undefined && match[3] !== dialect) continue;
    const version = versionsFrom + Number(match[1]);
    if (migrations.has(version)) throw new Error(`two migrations have version ${match[1]}`);
    const sql = readFileSync(new URL(file, asFolder(folder)), 'utf8').replaceAll('\r\n', '\n');
    const checksum = createHash('sha256').update(sql).digest('hex');
    const name = prefix === '' ? (match[2] as string) : `${prefix}_${match[2]}`;
    const isShared = match[3] === undefined;
    migrations.set(version, { version, name, sql: isShared ? inDialect(sql, dialect) : sql, checksum });
  }
  return [...migrations.values()].sort((a, b) => a.version - b.version);
}

/**
 * A file for both databases as one of them reads it. STRICT tables of SQLite know none of the types of PostgreSQL except `text`,
 * `integer` and `real`. `int` and not `integer`, which would make a primary key an alias of the rowid.
 */
function inDialect(sql: string, dialect: Dialect): string {
  if (dialect === 'postgres') return sql;
  return sql.replace(quotedOrType, (match, type: string | undefined) =>
    type === undefined ? match : (strictTypes[type.toLowerCase().replace(/\s+/, ' ')] as string),
  );
}

const strictTypes: Readonly<Record<string, string>> = {
  bigint: 'int',
  smallint: 'int',
  bytea: 'blob',
  'double precision': 'real',
};

/** Texts, quoted names and comments, which stay as they are; or a type. */
const quotedOrType =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\b(bigint|smallint|bytea|double\s+precision)\b/gi;

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
  const settings = { disableTransactions: true, allowUnorderedMigrations: true, ...place };
  const migrator = new Migrator({ db: kysely, provider, ...settings });
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
  const newest = newestByPart(migrations);
  const reached = newestByPart(history);
  for (const { version, name, checksum } of history) {
    const migration = migrations.find((candidate) => candidate.version === version);
    const known = newest.get(partOf(version)) ?? 0;
    if (version > known) {
      throw schemaError(
        `the database is at schema version ${version} (${name}), newer than this program's ${known} (Octavo ${productVersion()}). ` +
          'A schema does not go back: start the newer release, or restore a backup that this release can read (octavo restore --force FILE)',
      );
    }
    if (!migration) throw schemaError(`migration ${version} (${name}) has run but its file is gone`);
    if (migration.checksum !== checksum) {
      throw schemaError(`migration ${version} (${name}) was edited after it had run`);
    }
  }
  const late = migrations.find(
    ({ version }) =>
      version < (reached.get(partOf(version)) ?? 0) &&
      !history.some((applied) => applied.version === version),
  );
  if (late)
    throw schemaError(
      `migration ${late.version} (${late.name}) comes before ${reached.get(partOf(late.version))}, which has run`,
    );
}

/** The highest version of the service (0) and of each package. */
function newestByPart(migrations: readonly Pick<SqlMigration, 'version'>[]): Map<number, number> {
  const newest = new Map<number, number>();
  for (const { version } of migrations)
    newest.set(partOf(version), Math.max(version, newest.get(partOf(version)) ?? 0));
  return newest;
}

function partOf(version: number): number {
  return Math.floor(version / 10_000);
}

function provideMigrations(
  migrations: readonly SqlMigration[],
  run: (db: Kysely<HistoryTables>, migration: SqlMigration) => Promise<void>,
): MigrationProvider {
  const byName = Object.fromEntries(
    migrations.map((migration) => [
      kyselyName(migration),
      { up: (db: Kysely<HistoryTables>) => run(db, migration) },
    ]),
  );
  return { getMigrations: async () => byName };
}

/** Kysely runs migrations in the order of their names, so those of packages start with `0000`. */
function kyselyName({ version, name }: SqlMigration): string {
  const number = String(version).padStart(4, '0');
  return partOf(version) === 0 ? `${number}_${name}` : `0000_${number}_${name}`;
}

function schemaError(message: string): AppError {
  return new AppError('precondition_failed', message, { reason: 'SCHEMA' });
}

function asFolder(url: URL): URL {
  return url.pathname.endsWith('/') ? url : new URL(`${url.href}/`);
}
