import type { PoolClient } from 'pg';
import type { Applied } from '../migrations.ts';
import { type BackupLine, writeBackup } from './backup-file.ts';
import { quoteName } from './pool.ts';
import { inTransaction } from './session.ts';

const rowsPerFetch = 500;

/** Writes the rows and sequences of a schema, seen in one snapshot, to a file. */
export async function backupSchema(client: PoolClient, schema: string, file: string): Promise<void> {
  await inTransaction(client, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', () =>
    writeBackup(file, backupLines(client, schema)),
  );
}

async function* backupLines(client: PoolClient, schema: string): AsyncGenerator<BackupLine> {
  const applied = await client.query<Applied>(
    'SELECT version, name, checksum FROM schema_migration ORDER BY version',
  );
  yield { kind: 'header', migrations: applied.rows };
  for (const table of await readTables(client, schema)) {
    yield { kind: 'table', ...table };
    yield* tableRows(client, table);
  }
  const sequences = await client.query<{ name: string }>(
    'SELECT sequencename AS name FROM pg_sequences WHERE schemaname = $1',
    [schema],
  );
  for (const { name } of sequences.rows) {
    const state = await client.query<{ lastValue: string; called: number }>(
      `SELECT last_value::text AS "lastValue", is_called AS called FROM ${quoteName(name)}`,
    );
    for (const row of state.rows) yield { kind: 'sequence', name, ...row };
  }
}

export interface BackupTable {
  readonly name: string;
  /** Those that are stored, not generated. */
  readonly columns: readonly string[];
}

/** The tables of the schema and their columns, except the one that remembers migrations. */
export async function readTables(client: PoolClient, schema: string): Promise<BackupTable[]> {
  const { rows } = await client.query<{ name: string; columns: string }>(
    `SELECT c.relname AS name, json_agg(a.attname ORDER BY a.attnum) AS columns
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relname <> 'schema_migration'
       AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
     GROUP BY c.relname ORDER BY c.relname`,
    [schema],
  );
  return rows.map(({ name, columns }) => ({ name, columns: JSON.parse(columns) as string[] }));
}

async function* tableRows(client: PoolClient, table: BackupTable): AsyncGenerator<BackupLine> {
  const columns = table.columns.map(quoteName).join(', ');
  const select = `SELECT row_to_json(r)::text AS json FROM (SELECT ${columns} FROM ${quoteName(table.name)}) r`;
  await client.query(`DECLARE lines NO SCROLL CURSOR FOR ${select}`);
  for (;;) {
    const { rows } = await client.query<{ json: string }>(`FETCH ${rowsPerFetch} FROM lines`);
    if (rows.length === 0) break;
    for (const { json } of rows) yield { kind: 'row', json };
  }
  await client.query('CLOSE lines');
}
