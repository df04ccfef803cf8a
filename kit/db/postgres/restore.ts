import type { PoolClient } from 'pg';
import type { Log } from '../../log.ts';
import { notABackup, notEmpty } from '../errors.ts';
import { type Migration, pendingMigrations } from '../migrations.ts';
import { type BackupTable, readTables } from './backup.ts';
import { type BackupLine, readBackup } from './backup-file.ts';
import { migrateInTransaction } from './migrate.ts';
import { PostgresPool, quoteName } from './pool.ts';
import { inTransaction } from './session.ts';

const batchRowsMax = 500;
const batchCharactersMax = 4_000_000;

interface RestoreOptions {
  readonly url: string;
  readonly schema: string;
  readonly file: string;
  readonly migrations: readonly Migration[];
  readonly overwrite: boolean;
  readonly log: Log;
}

/** Makes the schema anew as it was at the time of the backup, and fills it, in one transaction. */
export async function restoreSchema(options: RestoreOptions): Promise<void> {
  const { schema } = options;
  await using pool = new PostgresPool({ url: options.url, schema, max: 1, log: options.log });
  await pool.use((client) =>
    inTransaction(client, 'BEGIN', async () => {
      if (!options.overwrite && (await hasRows(client, schema))) throw notEmpty(schema);
      await client.query(`DROP SCHEMA IF EXISTS ${quoteName(schema)} CASCADE`);
      await load(client, options);
    }),
  );
}

async function hasRows(client: PoolClient, schema: string): Promise<boolean> {
  for (const { name } of await readTables(client, schema)) {
    const { rowCount } = await client.query(`SELECT 1 FROM ${quoteName(name)} LIMIT 1`);
    if (rowCount) return true;
  }
  return false;
}

async function load(client: PoolClient, options: RestoreOptions): Promise<void> {
  const lines = readBackup(options.file);
  const { value: header } = await lines.next();
  if (header?.kind !== 'header') throw notABackup(options.file);
  pendingMigrations(options.migrations, header.migrations);
  const taken = new Set(header.migrations.map(({ version }) => version));
  const migrations = options.migrations.filter(({ version }) => taken.has(version));
  await migrateInTransaction(client, { ...options, migrations });
  const restoreRules = await setRulesAside(client, options.schema);
  await loadLines(client, lines);
  await restoreRules();
}

/**
 * Empties the tables of what migrations put in, and takes away triggers and constraints between tables, so that rows
 * may come in any order and as they are. Gives what puts them back, and checks the constraints.
 */
async function setRulesAside(client: PoolClient, schema: string): Promise<() => Promise<void>> {
  const tables = (await readTables(client, schema)).map(({ name }) => quoteName(name));
  const { rows: foreignKeys } = await client.query<{ name: string; table: string; definition: string }>(
    `SELECT conname AS name, conrelid::regclass::text AS table, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE contype = 'f' AND connamespace = $1::regnamespace`,
    [quoteName(schema)],
  );
  if (tables.length > 0) await client.query(`TRUNCATE ${tables.join(', ')}`);
  for (const { name, table } of foreignKeys)
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${quoteName(name)}`);
  for (const table of tables) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  return async () => {
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    for (const table of tables) await client.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
    for (const { name, table, definition } of foreignKeys) {
      await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${quoteName(name)} ${definition}`);
    }
  };
}

async function loadLines(client: PoolClient, lines: AsyncIterable<BackupLine>): Promise<void> {
  let table: BackupTable | undefined;
  let batch: string[] = [];
  let characters = 0;
  const flush = async (): Promise<void> => {
    if (table !== undefined && batch.length > 0) await insertRows(client, table, batch);
    batch = [];
    characters = 0;
  };
  for await (const line of lines) {
    if (line.kind === 'row') {
      batch.push(line.json);
      characters += line.json.length;
      if (batch.length === batchRowsMax || characters > batchCharactersMax) await flush();
      continue;
    }
    await flush();
    if (line.kind === 'table') table = line;
    if (line.kind === 'sequence') {
      await client.query('SELECT setval($1::regclass, $2::bigint, $3)', [
        quoteName(line.name),
        line.lastValue,
        line.called === 1,
      ]);
    }
  }
  await flush();
}

async function insertRows(client: PoolClient, table: BackupTable, rows: string[]): Promise<void> {
  const name = quoteName(table.name);
  const columns = table.columns.map(quoteName).join(', ');
  await client.query(
    `INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE
     SELECT ${columns} FROM json_populate_recordset(null::${name}, $1::json)`,
    [`[${rows.join(',')}]`],
  );
}
