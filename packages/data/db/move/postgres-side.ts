import type { ClientBase } from 'pg';
import { historyTables } from '../migrations.ts';
import { asWritten } from '../postgres/open.ts';
import { quoteName } from '../postgres/pool.ts';
import { setRulesAside } from '../postgres/rules.ts';
import { postgresTransaction } from '../postgres/transactions/session.ts';
import type { WriteSession } from '../session.ts';
import { copyIn, copyOut } from './copy.ts';
import { CopyText } from './copy-text.ts';
import { type Batch, type Digest, type LastNumber, type Side, TableDigest, type Value } from './side.ts';
import type { ColumnType, MovedColumn, MovedTable, TableShape } from './tables.ts';

const batchRows = 2_000;

interface PostgresSideOptions {
  readonly schema: string;
  readonly replacesNul: boolean;
}

/** A schema of PostgreSQL in a move, on a connection that is in a transaction and has the schema as its search path. */
export class PostgresSide implements Side {
  readonly session: WriteSession<unknown>;
  readonly #client: ClientBase;
  readonly #options: PostgresSideOptions;

  constructor(client: ClientBase, options: PostgresSideOptions) {
    this.#client = client;
    this.#options = options;
    this.session = postgresTransaction(client, {
      schema: options.schema,
      columns: new Map(),
      names: asWritten,
    });
  }

  async shapes(): Promise<TableShape[]> {
    const { rows } = await this.#client.query<TableShape>(shapesQuery, [this.#options.schema, historyTables]);
    return rows;
  }

  async count(table: string): Promise<number> {
    const { rows } = await this.#client.query<{ rows: string }>(
      `SELECT count(*) AS rows FROM ${quoteName(table)}`,
    );
    return Number(rows[0]?.rows);
  }

  /** Keeps others from writing to the tables until the end of the transaction. */
  async lock(tables: readonly MovedTable[]): Promise<void> {
    await this.#client.query(
      `LOCK TABLE ${tables.map(({ name }) => quoteName(name)).join(', ')} IN SHARE MODE`,
    );
  }

  async analyze(): Promise<void> {
    for (const { name } of await this.shapes()) await this.#client.query(`ANALYZE ${quoteName(name)}`);
  }

  async *rows(table: MovedTable): AsyncGenerator<Batch> {
    const sql = `SELECT ${columnList(table)} FROM ${quoteName(table.name)}`;
    await this.#client.query(`DECLARE moved NO SCROLL CURSOR FOR ${sql}`);
    const fetch = {
      text: `FETCH ${batchRows} FROM moved`,
      rowMode: 'array' as const,
      types: { getTypeParser: () => (text: string) => text },
    };
    for (;;) {
      const { rows } = await this.#client.query<(string | null)[]>(fetch);
      if (rows.length === 0) break;
      yield rows.map((row) =>
        table.columns.map(({ type }, index) => decode(row[index] as string | null, type)),
      );
    }
    await this.#client.query('CLOSE moved');
  }

  async digest(table: MovedTable, onRows: (rows: number) => void): Promise<Digest> {
    const digest = new TableDigest();
    const columns = table.columns.map(({ name, type }) =>
      // Eight bytes, as `CopyText` writes them.
      type === 'double precision' ? `encode(float8send(${quoteName(name)} + 0), 'hex')` : quoteName(name),
    );
    const order = table.key.map(inOrder).join(', ');
    const sql = `COPY (SELECT ${columns.join(', ')} FROM ${quoteName(table.name)} ORDER BY ${order}) TO STDOUT`;
    await copyOut(this.#client, sql, (line) => {
      digest.add(line, 1);
      onRows(1);
    });
    return digest.end();
  }

  async lastNumber({ name, numbered }: MovedTable): Promise<LastNumber> {
    if (!numbered) return undefined;
    const sequence = await this.#sequenceOf(name, numbered);
    const { rows } = await this.#client.query<{ last: string | null }>(
      `SELECT CASE WHEN is_called THEN last_value END::text AS last FROM ${sequence}`,
    );
    const last = rows[0]?.last;
    return last === null || last === undefined ? undefined : BigInt(last);
  }

  clear(): Promise<() => Promise<void>> {
    return setRulesAside(this.#client, this.#options.schema);
  }

  async load(table: MovedTable, rows: AsyncIterable<Batch>): Promise<void> {
    const text = new CopyText(table, this.#options);
    const sql = `COPY ${quoteName(table.name)} (${columnList(table)}) FROM STDIN`;
    await copyIn(this.#client, sql, linesOf(rows, text));
  }

  async setLastNumber({ name, numbered }: MovedTable, last: LastNumber): Promise<void> {
    if (!numbered || last === undefined || last < 1n) return;
    const sequence = await this.#sequenceOf(name, numbered);
    await this.#client.query('SELECT setval($1::regclass, $2::bigint)', [sequence, String(last)]);
  }

  async #sequenceOf(table: string, column: string): Promise<string> {
    const { rows } = await this.#client.query<{ name: string }>(
      'SELECT pg_get_serial_sequence($1, $2) AS name',
      [quoteName(table), column],
    );
    return rows[0]?.name as string;
  }
}

/** Tables with their columns in order. A generated column has no type that a move knows. */
const shapesQuery = `SELECT c.relname AS name,
    (SELECT json_agg(json_build_object('name', a.attname, 'isNumbered', a.attidentity <> '',
        'type', CASE WHEN a.attgenerated = '' THEN format_type(a.atttypid, NULL) ELSE 'generated' END) ORDER BY a.attnum)
      FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
    (SELECT coalesce(json_agg(a.attname ORDER BY array_position(i.indkey::int[], a.attnum::int)), '[]')
      FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
      WHERE i.indrelid = c.oid AND i.indisprimary) AS key
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND c.relname <> ALL ($2) ORDER BY 1`;

async function* linesOf(rows: AsyncIterable<Batch>, text: CopyText): AsyncGenerator<Uint8Array> {
  for await (const batch of rows) yield Buffer.from(text.lines(batch));
}

/** SQLite sorts texts by their bytes. */
function inOrder({ name, type }: MovedColumn): string {
  return type === 'text' ? `${quoteName(name)} COLLATE "C"` : quoteName(name);
}

function columnList({ columns }: MovedTable): string {
  return columns.map(({ name }) => quoteName(name)).join(', ');
}

function decode(text: string | null, type: ColumnType): Value {
  if (text === null || type === 'text') return text;
  if (type === 'bytea') return Buffer.from(text.slice(2), 'hex');
  return type === 'double precision' ? Number(text) : BigInt(text);
}
