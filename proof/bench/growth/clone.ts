import { DatabaseSync } from 'node:sqlite';

/** SQL of columns that differ from row to row; `i` is the number of the row. All other columns are those of the first row of the table. */
export type Differing = Readonly<Record<string, string>>;

export interface Cloned {
  readonly table: string;
  readonly columns: Differing;
}

interface CloneRange {
  readonly from: number;
  readonly to: number;
  /** SQL to run in the end. */
  readonly after?: string | undefined;
}

/** Copies the first row of each table until it has rows number `from` to `to`, without the program, so that a million takes seconds. */
export function cloneRows(
  file: string,
  tables: readonly Cloned[],
  { from, to, after = '' }: CloneRange,
): void {
  using database = new DatabaseSync(file);
  database.exec('PRAGMA foreign_keys = off; PRAGMA synchronous = off; PRAGMA cache_size = -200000; BEGIN');
  for (const { table, columns } of tables) {
    const names = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all();
    const all = names.map(({ name }) => String(name));
    const values = all.map((name) => columns[name] ?? `first."${name}"`);
    database.exec(`INSERT INTO "${table}" (${all.map((name) => `"${name}"`).join(', ')})
      WITH RECURSIVE n (i) AS (SELECT ${from + 1} UNION ALL SELECT i + 1 FROM n WHERE i < ${to})
      SELECT ${values.join(', ')} FROM n, (SELECT * FROM "${table}" ORDER BY rowid LIMIT 1) AS first`);
  }
  database.exec(`${after}; COMMIT`);
}
