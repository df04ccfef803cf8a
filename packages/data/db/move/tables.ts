import type { Derived } from '../database.ts';

/** A table as one of the databases has it. */
export interface TableShape {
  readonly name: string;
  readonly columns: readonly ColumnShape[];
  /** Columns of the primary key. */
  readonly key: readonly string[];
}

export interface ColumnShape {
  readonly name: string;
  /** Type by PostgreSQL; SQLite has none that counts. */
  readonly type?: string;
  /** True if a sequence numbers the rows that lack it. */
  readonly isNumbered?: boolean;
}

/** A table whose rows a move copies. */
export interface MovedTable {
  readonly name: string;
  readonly columns: readonly MovedColumn[];
  /** Columns that put the rows in order. */
  readonly key: readonly MovedColumn[];
  /** Column that a sequence numbers. */
  readonly numbered?: string;
}

export interface MovedColumn {
  readonly name: string;
  readonly type: ColumnType;
}

const columnTypes = ['smallint', 'integer', 'bigint', 'double precision', 'text', 'bytea'] as const;
export type ColumnType = (typeof columnTypes)[number];

/**
 * The tables that a move copies: those that both databases have, with the same columns. Throws if there are others which are not
 * derived, so that no migration adds a table that a move would leave behind.
 */
export function movedTables(
  sqlite: readonly TableShape[],
  postgres: readonly TableShape[],
  derived: Derived,
): MovedTable[] {
  const isCopied = ({ name }: TableShape) => !(name in derived);
  const names = new Set([...postgres, ...sqlite].filter(isCopied).map(({ name }) => name));
  return [...names].sort().map((name) => {
    const [there, here] = [postgres, sqlite].map((shapes) => shapes.find((shape) => shape.name === name));
    if (!there || !here) throw unknownTo(`the table ${name} of ${there ? 'PostgreSQL' : 'SQLite'}`);
    return movedTable(there, here, derived);
  });
}

function movedTable(postgres: TableShape, sqlite: TableShape, derived: Derived): MovedTable {
  const { name } = postgres;
  const there = new Set(postgres.columns.map((column) => column.name));
  const here = new Set(sqlite.columns.map((column) => column.name));
  for (const column of there.symmetricDifference(here))
    if (!(`${name}.${column}` in derived)) throw unknownTo(`the column ${name}.${column}`);
  const columns = postgres.columns
    .filter((column) => here.has(column.name))
    .map((column): MovedColumn => ({ name: column.name, type: typeOf(name, column) }));
  const key = postgres.key.map((part) => columns.find((column) => column.name === part) as MovedColumn);
  const numbered = postgres.columns.find((column) => column.isNumbered)?.name;
  return { name, columns, key: key.length > 0 ? key : columns, ...(numbered && { numbered }) };
}

function typeOf(table: string, { name, type }: ColumnShape): ColumnType {
  const known = columnTypes.find((each) => each === type);
  if (!known) throw unknownTo(`the type ${type} of ${table}.${name}`);
  return known;
}

function unknownTo(what: string): Error {
  return new Error(
    `a move between SQLite and PostgreSQL does not know ${what}: have it on both, with a type that packages/data/db/docs/schema.md lists, or name it in "derived" of its service`,
  );
}
