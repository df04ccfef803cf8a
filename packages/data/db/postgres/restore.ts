import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import type { Log } from '@octavo/core';
import type { PoolClient } from 'pg';
import type { Pooler } from '../database.ts';
import { notABackup, notEmpty } from '../errors.ts';
import { type AppliedMigration, checkHistory, type SqlMigration } from '../migrations.ts';
import { migrateSchema, searchPath } from './open.ts';
import { PostgresPool, quoteName } from './pool.ts';
import { checkPooler } from './pooler.ts';
import { readTables, setRulesAside } from './rules.ts';
import { migrationTimeouts } from './timeouts.ts';
import { inTransaction } from './transactions/session.ts';

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
  readonly pooler?: Pooler | undefined;
  readonly schema: string;
  readonly file: string;
  readonly migrations: readonly SqlMigration[];
  readonly overwrite: boolean;
  readonly log: Log;
}

/** Makes the schema again as it was at the time of the backup and fills it, in one transaction. */
export async function restoreSchema(options: RestoreOptions): Promise<void> {
  const { url, pooler, schema, log } = options;
  await checkPooler(url, pooler);
  await using pool = new PostgresPool({
    url,
    pooler,
    log,
    max: 1,
    timeouts: migrationTimeouts,
  });
  await pool.use((client) =>
    inTransaction(client, `BEGIN; ${searchPath(schema)}`, async () => {
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
