import type { ClientBase } from 'pg';
import { historyTables } from '../migrations.ts';
import { quoteName } from './pool.ts';

/**
 * Empties the tables of what migrations put in, and takes away triggers, constraints between tables, and indexes that are not of a
 * constraint, so that rows may come in any order, as they are, and fast. Gives what puts them back, and checks the constraints.
 */
export async function setRulesAside(client: ClientBase, schema: string): Promise<() => Promise<void>> {
  const tables = await readTables(client, schema);
  const { rows: foreignKeys } = await client.query<{ name: string; table: string; definition: string }>(
    `SELECT conname AS name, conrelid::regclass::text AS table, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE contype = 'f' AND connamespace = $1::regnamespace`,
    [quoteName(schema)],
  );
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `SELECT c.relname AS name, pg_get_indexdef(c.oid) AS definition
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
     WHERE c.relnamespace = $1::regnamespace AND t.relname <> ALL ($2)
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = c.oid AND contype <> 'f')`,
    [quoteName(schema), historyTables],
  );
  if (tables.length > 0) await client.query(`TRUNCATE ${tables.join(', ')} RESTART IDENTITY`);
  for (const { name, table } of foreignKeys)
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${quoteName(name)}`);
  for (const { name } of indexes) await client.query(`DROP INDEX ${quoteName(name)}`);
  for (const table of tables) await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  return async () => {
    await client.query('SET CONSTRAINTS ALL IMMEDIATE');
    for (const table of tables) await client.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
    for (const { definition } of indexes) await client.query(definition);
    for (const { name, table, definition } of foreignKeys) {
      await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${quoteName(name)} ${definition}`);
    }
  };
}

/** The tables of the schema, quoted, except those that remember migrations. */
export async function readTables(client: ClientBase, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    'SELECT tablename AS name FROM pg_tables WHERE schemaname = $1 AND tablename <> ALL ($2) ORDER BY 1',
    [schema, historyTables],
  );
  return rows.map(({ name }) => quoteName(name));
}
