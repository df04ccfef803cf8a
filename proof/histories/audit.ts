import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import type { Claimable, ClaimChange } from './claims.ts';

/** A table with rows that workers claim. */
export interface ClaimTable {
  readonly service: string;
  readonly table: string;
  /** SQL over the columns of a row, for each part of {@link Claimable}, and its id. */
  readonly columns: Readonly<Record<'id' | keyof Claimable, string>>;
}

/** Addresses of the data of services. */
export type Store = { readonly folder: string } | { readonly databaseUrl: string };

export const mailQueue: ClaimTable = {
  service: 'passwordless',
  table: 'email_queue',
  columns: {
    id: 'ROW.id',
    claims: 'ROW.claims',
    holder: "CASE WHEN ROW.status = 'sending' THEN ROW.worker ELSE '' END",
    dueMs: 'ROW.next_try_at_ms',
    isDone: "CASE WHEN ROW.status IN ('sent', 'failed') THEN 1 ELSE 0 END",
  },
};

export const jobQueue: ClaimTable = {
  service: 'posts',
  table: 'job',
  columns: {
    id: 'ROW.id',
    claims: 'ROW.attempts',
    holder: 'ROW.holder',
    dueMs: 'ROW.due_at_ms',
    isDone: 'CASE WHEN ROW.dead_at_ms IS NULL THEN 0 ELSE 1 END',
  },
};

/** Adds triggers that note each change of the table. */
export async function watchClaims(store: Store, { service, table, columns }: ClaimTable): Promise<void> {
  const parts = Object.entries(columns);
  if ('folder' in store) {
    using database = openFile(store, service);
    const row = (name: string) =>
      `json_object(${parts.map(([key, sql]) => `'${key}', ${sql.replaceAll('ROW', name)}`)})`;
    const note = (before: string, after: string) =>
      `INSERT INTO noted (at_ms, before, after) VALUES (unixepoch('subsec') * 1000, ${before}, ${after});`;
    database.exec(`
      CREATE TABLE noted (n integer PRIMARY KEY, at_ms real, before text, after text);
      CREATE TRIGGER noted_added AFTER INSERT ON ${table} BEGIN ${note('NULL', row('NEW'))} END;
      CREATE TRIGGER noted_changed AFTER UPDATE ON ${table} BEGIN ${note(row('OLD'), row('NEW'))} END;
      CREATE TRIGGER noted_deleted AFTER DELETE ON ${table} BEGIN ${note(row('OLD'), 'NULL')} END;`);
    return;
  }
  const row = (name: string) =>
    `jsonb_build_object(${parts.map(([key, sql]) => `'${key}', ${sql.replaceAll('ROW', name)}`)})`;
  await onServer(
    store,
    `
    CREATE TABLE noted_${table} (n bigserial PRIMARY KEY, at_ms float8, before jsonb, after jsonb);
    CREATE FUNCTION note_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO public.noted_${table} (at_ms, before, after) VALUES (extract(epoch FROM clock_timestamp()) * 1000,
        CASE WHEN TG_OP <> 'INSERT' THEN ${row('OLD')} END, CASE WHEN TG_OP <> 'DELETE' THEN ${row('NEW')} END);
      RETURN NULL;
    END $$;
    CREATE TRIGGER noted AFTER INSERT OR UPDATE OR DELETE ON ${service}.${table}
      FOR EACH ROW EXECUTE FUNCTION note_${table}();`,
  );
}

/** All changes since {@link watchClaims}. */
export async function claimChanges(store: Store, { service, table }: ClaimTable): Promise<ClaimChange[]> {
  if ('folder' in store) {
    using database = openFile(store, service);
    const rows = database
      .prepare('SELECT at_ms, before, after FROM noted ORDER BY n')
      .all() as unknown as NotedText[];
    const parse = (text: string | null) => (text === null ? null : JSON.parse(text));
    return rows.map(({ at_ms, before, after }) =>
      toChange({ at_ms, before: parse(before), after: parse(after) }),
    );
  }
  const sql = `SELECT at_ms, before, after FROM noted_${table} ORDER BY n`;
  return (await onServer<Noted>(store, sql)).map(toChange);
}

/** Rows of a query on the data of a service. On PostgreSQL the names of tables need its schema: `SCHEMA.choice`. */
export async function query<Row extends object>(store: Store, service: string, sql: string): Promise<Row[]> {
  if (!('folder' in store)) return onServer<Row>(store, sql.replaceAll('SCHEMA', service));
  using database = openFile(store, service);
  return database.prepare(sql.replaceAll('SCHEMA.', '')).all() as unknown as Row[];
}

interface NotedRow {
  readonly id: string;
  readonly claims: number;
  readonly holder: string;
  readonly dueMs: number;
  readonly isDone: number;
}

interface Noted {
  readonly at_ms: number;
  readonly before: NotedRow | null;
  readonly after: NotedRow | null;
}

interface NotedText {
  readonly at_ms: number;
  readonly before: string | null;
  readonly after: string | null;
}

function toChange({ at_ms, before, after }: Noted): ClaimChange {
  const claimable = (row: NotedRow | null) => (row ? { ...row, isDone: row.isDone === 1 } : undefined);
  return { id: (before ?? after)?.id ?? '', atMs: at_ms, before: claimable(before), after: claimable(after) };
}

function openFile({ folder }: { folder: string }, service: string): DatabaseSync {
  return new DatabaseSync(join(folder, `${service}.sqlite`), { timeout: 20_000 });
}

async function onServer<Row extends object>(
  { databaseUrl }: { databaseUrl: string },
  sql: string,
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}
