import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import type { Log } from '@octavo/core';
import type { PoolClient } from 'pg';
import { notABackup, notEmpty } from '../errors.ts';
import { type AppliedMigration, checkHistory, historyTables, type SqlMigration } from '../migrations.ts';
import { migrateSchema } from './open.ts';
import { migrationTimeouts, PostgresPool, quoteName } from './pool.ts';
import { refuseTransactionPooler } from './pooler.ts';
import { inTransaction } from './session.ts';

// `octavo backup` wrote this format before it left PostgreSQL to pg_dump: gzip of lines, `R` and a row as PostgreSQL's own JSON, `L`
// and anything else as JSON, and at the end `E` with the name of the format.

const endLine = 'Eoctavo-postgres-1';
const batchRowsMax = 500;
const batchCharactersMax = 4_000_000;

/** Lines of a file, in this order: the header, each table followed by its rows, each sequence. */
type Line =
  | { readonly kind: 'header'; readonly migrations: readonly AppliedMigration[] }
  | { readonly kind: 'table'; readonly name: string; readonly columns: readonly string[] }
  | { readonly kind: 'rows'; readonly json: string }
  | { readonly kind: 'sequence'; readonly name: string; readonly lastValue: string; readonly called: number };

interface RestoreOptions {
  readonly url: string;
  readonly schema: string;
  readonly file: string;
  readonly migrations: readonly SqlMigration[];
  readonly overwrite: boolean;
  readonly log: Log;
}

/** Makes the schema again as it was at the time of the backup and fills it, in one transaction. */
export async function restoreSchema(options: RestoreOptions): Promise<void> {
  const { url, schema, log } = options;
  await refuseTransactionPooler(url);
  await using pool = new PostgresPool({ url, schema, log, max: 1, timeouts: migrationTimeouts });
  await pool.use((client) =>
    inTransaction(client, 'BEGIN', async () => {
      if (!options.overwrite && (await hasRows(client, schema))) throw notEmpty(schema);
      await client.query(`DROP SCHEMA IF EXISTS ${quoteName(schema)} CASCADE`);
      await load(client, options);
    }),
  );
}

async function hasRows(client: PoolClient, schema: string): Promise<boolean> {
  for (const table of await readTables(client, schema)) {
    const { rowCount } = await client.query(`SELECT 1 FROM ${table} LIMIT 1`);
    if (rowCount) return true;
  }
  return false;
}

async function load(client: PoolClient, options: RestoreOptions): Promise<void> {
  const lines = readLines(options.file);
  const { value: header } = await lines.next();
  if (header?.kind !== 'header') throw notABackup(options.file);
  checkHistory(options.migrations, header.migrations);
  const versions = new Set(header.migrations.map(({ version }) => version));
  const migrations = options.migrations.filter(({ version }) => versions.has(version));
  await migrateSchema(client, { ...options, migrations });
  const restoreRules = await setRulesAside(client, options.schema);
  let table: Extract<Line, { kind: 'table' }> | undefined;
  for await (const line of lines) {
    if (line.kind === 'table') table = line;
    else if (line.kind === 'rows' && table) await insertRows(client, table, line.json);
    else if (line.kind === 'sequence') {
      const values = [quoteName(line.name), line.lastValue, line.called === 1];
      await client.query('SELECT setval($1::regclass, $2::bigint, $3)', values);
    }
  }
  await restoreRules();
}

/**
 * Empties the tables of what migrations put in, and takes away triggers and constraints between tables, so that rows
 * may come in any order and as they are. Gives what puts them back, and checks the constraints.
 */
async function setRulesAside(client: PoolClient, schema: string): Promise<() => Promise<void>> {
  const tables = await readTables(client, schema);
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

/** The tables of the schema, quoted, except those that remember migrations. */
async function readTables(client: PoolClient, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> ALL ($2) ORDER BY 1',
    [schema, historyTables],
  );
  return rows.map(({ name }) => quoteName(name));
}

async function insertRows(
  client: PoolClient,
  table: { name: string; columns: readonly string[] },
  json: string,
): Promise<void> {
  const name = quoteName(table.name);
  const columns = table.columns.map(quoteName).join(', ');
  await client.query(
    `INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE
     SELECT ${columns} FROM json_populate_recordset(null::${name}, $1::json)`,
    [json],
  );
}

/** The lines of a file, consecutive rows as one JSON array. Throws `invalid_input` where it is something else or not whole. */
async function* readLines(file: string): AsyncGenerator<Line, undefined> {
  let rows: string[] = [];
  let characters = 0;
  let isWhole = false;
  for await (const line of textLines(file)) {
    const rest = line.slice(1);
    const isRow = line.startsWith('R');
    if (rows.length > 0 && (!isRow || rows.length === batchRowsMax || characters > batchCharactersMax)) {
      yield { kind: 'rows', json: `[${rows.join(',')}]` };
      rows = [];
      characters = 0;
    }
    if (isRow) {
      rows.push(rest);
      characters += rest.length;
    } else if (line.startsWith('L')) yield JSON.parse(rest) as Line;
    else isWhole = line === endLine;
  }
  if (!isWhole) throw notABackup(file);
  return undefined;
}

/** Reads lines without node:readline, which splits at U+2028 too. */
async function* textLines(file: string): AsyncGenerator<string> {
  const source = createReadStream(file);
  const text = source.pipe(createGunzip()).setEncoding('utf8');
  source.on('error', (error) => text.destroy(error));
  let rest = '';
  try {
    for await (const chunk of text) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() as string;
      yield* lines;
    }
  } catch (error) {
    throw notABackup(file, error);
  }
}
