import type { PoolClient } from 'pg';
import type { Log } from '../../log.ts';
import { type Applied, type Migration, migrationTable, pendingMigrations } from '../migrations.ts';
import { quoteName } from './pool.ts';
import { inTransaction } from './session.ts';

interface MigrateOptions {
  readonly schema: string;
  readonly migrations: readonly Migration[];
  readonly log: Log;
}

/**
 * Makes the schema if it is missing and takes every step that is missing, all in one transaction under an advisory
 * lock; others that start at the same time wait for it.
 */
export async function migrate(client: PoolClient, options: MigrateOptions): Promise<void> {
  await inTransaction(client, 'BEGIN', () => migrateInTransaction(client, options));
}

/** {@link migrate} as part of a transaction. */
export async function migrateInTransaction(client: PoolClient, options: MigrateOptions): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`migrate:${options.schema}`]);
  await createSchema(client, options.schema);
  await client.query(migrationTable);
  const applied = await client.query<Applied>(
    'SELECT version, name, checksum FROM schema_migration ORDER BY version',
  );
  for (const migration of pendingMigrations(options.migrations, applied.rows)) {
    await client.query(migration.sql);
    await remember(client, migration);
    options.log.info({ version: migration.version, migration: migration.name }, 'migration applied');
  }
}

/** Only where it is missing: the role may lack the right to create one. */
async function createSchema(client: PoolClient, schema: string): Promise<void> {
  const { rowCount } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  if (rowCount === 0) await client.query(`CREATE SCHEMA ${quoteName(schema)}`);
}

async function remember(client: PoolClient, { version, name, checksum }: Migration): Promise<void> {
  const sql = 'INSERT INTO schema_migration (version, name, checksum, applied_at_ms) VALUES ($1, $2, $3, $4)';
  await client.query(sql, [version, name, checksum, Date.now()]);
}
