import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { AppError } from '../errors.ts';
import type { Dialect } from './session.ts';

/** One step of a schema, from a file `NNNN_name.sql` or `NNNN_name.<dialect>.sql`. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file, in hex; line ends count as LF. */
  readonly checksum: string;
}

/** A step that the database has taken. */
export type Applied = Pick<Migration, 'version' | 'name' | 'checksum'>;

/** The table that remembers the steps; the same on both databases. */
export const migrationTable = `CREATE TABLE IF NOT EXISTS schema_migration (
  version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at_ms bigint NOT NULL)`;

/** The migrations of a folder for one database, by version. Throws where two share a version or a file's name is none. */
export function readMigrations(folder: URL, dialect: Dialect): Migration[] {
  const migrations = new Map<number, Migration>();
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
 * The migrations still to run. Refuses, as a `precondition_failed` error, a database that a newer version has migrated,
 * and files that were edited, inserted or removed after they had run.
 */
export function pendingMigrations(
  migrations: readonly Migration[],
  applied: readonly Applied[],
): Migration[] {
  const newest = migrations.at(-1)?.version ?? 0;
  for (const { version, name, checksum } of applied) {
    const migration = migrations.find((candidate) => candidate.version === version);
    if (version > newest) {
      throw refusal(
        `the database is at schema version ${version} (${name}), newer than this program's ${newest}: upgrade it`,
      );
    }
    if (migration === undefined) throw refusal(`migration ${version} (${name}) has run but its file is gone`);
    if (migration.checksum !== checksum)
      throw refusal(`migration ${version} (${name}) was edited after it had run`);
  }
  const reached = Math.max(0, ...applied.map(({ version }) => version));
  const pending = migrations.filter(({ version }) => !applied.some((step) => step.version === version));
  const late = pending.find(({ version }) => version < reached);
  if (late) throw refusal(`migration ${late.version} (${late.name}) comes before ${reached}, which has run`);
  return pending;
}

function refusal(message: string): AppError {
  return new AppError('precondition_failed', message, { reason: 'SCHEMA' });
}

function asFolder(url: URL): URL {
  return url.pathname.endsWith('/') ? url : new URL(`${url.href}/`);
}
