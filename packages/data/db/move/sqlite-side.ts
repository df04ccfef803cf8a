import type { StatementSync } from 'node:sqlite';
import { setImmediate as turn } from 'node:timers/promises';
import { historyTables } from '../migrations.ts';
import type { WriteSession } from '../session.ts';
import type { SqliteConnection } from '../sqlite/connection.ts';
import { transactionOn } from '../sqlite/database.ts';
import { CopyText } from './copy-text.ts';
import { type Batch, type Digest, type LastNumber, type Side, TableDigest, type Value } from './side.ts';
import type { MovedTable, TableShape } from './tables.ts';

const batchRows = 500;

interface SqliteSideOptions {
  readonly replacesNul?: boolean;
}

/** A SQLite database in a move, on a connection that is in a transaction. */
export class SqliteSide implements Side {
  readonly session: WriteSession<unknown>;
  readonly #connection: SqliteConnection;
  readonly #options: SqliteSideOptions;

  constructor(connection: SqliteConnection, options: SqliteSideOptions = {}) {
    this.#connection = connection;
    this.#options = options;
    this.session = transactionOn(connection);
  }

  async shapes(): Promise<TableShape[]> {
    const tables =
      this.#all(`SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')
      AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`);
    return tables
      .map(({ name }) => String(name))
      .filter((name) => !ownTables.includes(name))
      .map((name) => {
        const columns = this.#all(`SELECT name, pk FROM pragma_table_xinfo(${quoteText(name)})`);
        const key = columns.filter(({ pk }) => Number(pk) > 0).sort((a, b) => Number(a.pk) - Number(b.pk));
        return {
          name,
          columns: columns.map((column) => ({ name: String(column.name) })),
          key: key.map((column) => String(column.name)),
        };
      });
  }

  /** 0 for a table that an older schema lacks. */
  async count(table: string): Promise<number> {
    const [found] = this.#all(
      `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ${quoteText(table)}`,
    );
    return found ? Number(this.#all(`SELECT count(*) AS rows FROM ${quote(table)}`)[0]?.rows) : 0;
  }

  async *rows(table: MovedTable): AsyncGenerator<Batch> {
    const order = table.key.map(({ name }) => quote(name)).join(', ');
    const statement = this.#prepare(
      `SELECT ${columnList(table)} FROM ${quote(table.name)} ORDER BY ${order}`,
    );
    let batch: Value[][] = [];
    for (const row of statement.iterate() as unknown as Iterable<Value[]>) {
      batch.push(row);
      if (batch.length < batchRows) continue;
      yield batch;
      batch = [];
      // What waits for the network gets its turn.
      await turn();
    }
    if (batch.length > 0) yield batch;
  }

  async digest(table: MovedTable, onRows: (rows: number) => void): Promise<Digest> {
    const text = new CopyText(table, { replacesNul: this.#options.replacesNul ?? false });
    const digest = new TableDigest();
    for await (const batch of this.rows(table)) {
      digest.add(text.digestLines(batch), batch.length);
      onRows(batch.length);
    }
    return digest.end();
  }

  async lastNumber({ name, numbered }: MovedTable): Promise<LastNumber> {
    if (!numbered) return undefined;
    const [given] = this.#all(`SELECT seq FROM sqlite_sequence WHERE name = ${quoteText(name)}`);
    const [highest] = this.#all(`SELECT max(${quote(numbered)}) AS seq FROM ${quote(name)}`);
    const last = given?.seq ?? highest?.seq;
    return last === null || last === undefined ? undefined : BigInt(last as bigint);
  }

  async clear(): Promise<() => Promise<void>> {
    for (const { name } of this.#all(ownTablesWithRows)) {
      if (!ownTables.includes(String(name))) this.#connection.exec(`DELETE FROM ${quote(String(name))}`);
    }
    const definitions = this.#all(
      `SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'index') AND sql IS NOT NULL ORDER BY rowid`,
    );
    for (const { type, name } of definitions) this.#connection.exec(`DROP ${type} ${quote(String(name))}`);
    this.#connection.exec('DELETE FROM sqlite_sequence');
    return async () => {
      for (const { sql } of definitions) this.#connection.exec(String(sql));
      const [broken] = this.#all('PRAGMA foreign_key_check');
      if (broken)
        throw new Error(`rows of ${broken.table} refer to rows of ${broken.parent} that are missing`);
    };
  }

  async load(table: MovedTable, rows: AsyncIterable<Batch>): Promise<void> {
    const values = table.columns.map(() => '?').join(', ');
    const insert = this.#prepare(
      `INSERT INTO ${quote(table.name)} (${columnList(table)}) VALUES (${values})`,
    );
    for await (const batch of rows) for (const row of batch) insert.run(...row);
  }

  async setLastNumber({ name }: MovedTable, last: LastNumber): Promise<void> {
    if (last === undefined || !this.#isAutoincrement(name)) return;
    this.#connection.exec(`DELETE FROM sqlite_sequence WHERE name = ${quoteText(name)};
      INSERT INTO sqlite_sequence (name, seq) VALUES (${quoteText(name)}, ${last})`);
  }

  #isAutoincrement(table: string): boolean {
    const [schema] = this.#all(`SELECT sql FROM sqlite_schema WHERE name = ${quoteText(table)}`);
    return /\bautoincrement\b/i.test(String(schema?.sql));
  }

  #all(sql: string): Record<string, unknown>[] {
    return this.#connection.execute({ sql, parameters: [], writes: false }).rows;
  }

  #prepare(sql: string): StatementSync {
    const statement = this.#connection.database.prepare(sql);
    statement.setReturnArrays(true);
    statement.setReadBigInts(true);
    return statement;
  }
}

/** Every database has these; they say what it has been through, and belong to it. */
const ownTables = [...historyTables, 'unfinished_deletion'];

/** Tables whose rows a migration may have put in; not those of an index for search. */
const ownTablesWithRows = `SELECT name FROM pragma_table_list
  WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`;

function columnList({ columns }: MovedTable): string {
  return columns.map(({ name }) => quote(name)).join(', ');
}

function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
