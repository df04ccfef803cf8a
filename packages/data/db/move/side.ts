import { createHash } from 'node:crypto';
import type { WriteSession } from '../session.ts';
import type { MovedTable, TableShape } from './tables.ts';

/** A value of a row on its way: whole numbers are bigints. */
export type Value = null | bigint | number | string | Uint8Array;

/** Rows that are together in memory. */
export type Batch = readonly (readonly Value[])[];

/** Rows of a table that both sides of a move agree on, if their digests are equal. */
export interface Digest {
  readonly rows: number;
  /** SHA-256 of all rows in the order of their keys, in hex. */
  readonly sha256: string;
}

/** The number that a table gave to a row last, by a sequence or AUTOINCREMENT; undefined if it gave none, or counts its rows instead. */
export type LastNumber = bigint | undefined;

/** A database that rows are read from or written to, in one transaction. Both kinds give the same digest for the same rows. */
export interface Side {
  readonly session: WriteSession<unknown>;
  shapes(): Promise<TableShape[]>;
  count(table: string): Promise<number>;
  rows(table: MovedTable): AsyncIterable<Batch>;
  digest(table: MovedTable, onRows: (rows: number) => void): Promise<Digest>;
  lastNumber(table: MovedTable): Promise<LastNumber>;
  /** Empties all tables, and sets constraints, triggers and indexes aside. The result puts them back and checks them. */
  clear(): Promise<() => Promise<void>>;
  load(table: MovedTable, rows: AsyncIterable<Batch>): Promise<void>;
  setLastNumber(table: MovedTable, last: LastNumber): Promise<void>;
}

/** Collects the lines of a table. */
export class TableDigest {
  readonly #hash = createHash('sha256');
  #rows = 0;

  add(lines: string | Uint8Array, rows: number): void {
    this.#hash.update(lines);
    this.#rows += rows;
  }

  end(): Digest {
    return { rows: this.#rows, sha256: this.#hash.digest('hex') };
  }
}
