import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Dialect, Session, WriteSession } from '../db/index.ts';

/** Needles of up to this many code points are found by their grams, longer ones by their trigrams. */
const gramLengthMax = 2;

/** FTS5 reads these noncharacters as U+FFFD. */
const conflated = /[\ufffd-\uffff]/;

export interface SubstringOptions {
  /** The table whose rows are found. On SQLite its index tables are `<table>_trigram` and `<table>_gram`. */
  readonly table: string;
  /** The normalized text of a row: {@link normalizedText}. */
  readonly text: RawBuilder<string>;
}

/**
 * Finds the rows of a table whose text contains a needle, exactly, whatever the script. Both are in the form of
 * `normalize`. The README has the tables and triggers that it needs.
 *
 * On PostgreSQL that is `LIKE` on an expression with a `pg_trgm` index. On SQLite two contentless FTS5 tables hold the
 * rows whose column `indexed` is 1; the others are compared one by one, so a row is found as soon as it is written.
 */
export class SubstringIndex {
  readonly #table: RawBuilder<unknown>;
  readonly #text: RawBuilder<string>;
  readonly #id: RawBuilder<number>;
  readonly #trigrams: RawBuilder<unknown>;
  readonly #grams: RawBuilder<unknown>;
  readonly #pending: RawBuilder<unknown>;

  constructor({ table, text }: SubstringOptions) {
    this.#table = sql.table(table);
    this.#text = text;
    this.#id = sql.ref<number>(`${table}.id`);
    this.#trigrams = sql.table(`${table}_trigram`);
    this.#grams = sql.table(`${table}_gram`);
    this.#pending = sql.ref(`${table}_pending`);
  }

  /** The condition that a row contains the needle, checked on the row itself. For a few rows that another condition finds. */
  compare(dialect: Dialect, needle: string): RawBuilder<SqlBool> {
    if (dialect === 'postgres') return sql<SqlBool>`${this.#text} LIKE ${likePattern(needle)}`;
    return sql<SqlBool>`instr(${this.#text}, ${needle}) > 0`;
  }

  /** The condition that a row contains the needle, checked with the index. */
  contains(dialect: Dialect, needle: string): RawBuilder<SqlBool> {
    if (dialect === 'postgres') return this.compare(dialect, needle);
    return sql<SqlBool>`${this.#id} IN ${this.matchingIds(dialect, needle)}`;
  }

  /**
   * A subquery of the ids of the rows that contain the needle, each once. On SQLite it is the fast way to count and to list by
   * id.
   */
  matchingIds(dialect: Dialect, needle: string): RawBuilder<{ id: number }> {
    if (dialect === 'postgres') {
      return sql`(SELECT id FROM ${this.#table} WHERE ${this.contains(dialect, needle)})`;
    }
    const hasNeedle = this.compare(dialect, needle);
    if (conflated.test(needle)) return sql`(SELECT id FROM ${this.#table} WHERE ${hasNeedle})`;
    const isShort = [...needle].length <= gramLengthMax;
    const index = isShort ? this.#grams : this.#trigrams;
    const match = isShort ? gramToken(needle) : `"${needle.replaceAll('"', '""')}"`;
    return sql`(SELECT rowid AS id FROM ${index} WHERE ${index} MATCH ${match}
      UNION ALL SELECT id FROM ${this.#table} INDEXED BY ${this.#pending} WHERE indexed = 0 AND ${hasNeedle})`;
  }

  /**
   * Returns true if at least `rowsMin` rows wait to be indexed. Always false on PostgreSQL, which indexes a row when it is
   * written.
   */
  async hasPending<DB>({ kysely, dialect }: Session<DB>, rowsMin = 1): Promise<boolean> {
    if (dialect === 'postgres') return false;
    const { rows } = await sql`SELECT 1 FROM ${this.#table} INDEXED BY ${this.#pending}
      WHERE indexed = 0 LIMIT 1 OFFSET ${rowsMin - 1}`.execute(kysely);
    return rows.length > 0;
  }

  /** Indexes up to `rowsMax` waiting rows by ascending id, about 80 microseconds each. Resolves to the number of rows. */
  async indexPending<DB>({ kysely, dialect }: WriteSession<DB>, rowsMax: number): Promise<number> {
    if (dialect === 'postgres') return 0;
    const { rows } = await sql<{ id: number; text: string }>`SELECT id, ${this.#text} AS text
      FROM ${this.#table} INDEXED BY ${this.#pending} WHERE indexed = 0 ORDER BY id LIMIT ${rowsMax}`.execute(
      kysely,
    );
    for (const { id, text } of rows) {
      await sql`INSERT INTO ${this.#trigrams} (rowid, text) VALUES (${id}, ${text})`.execute(kysely);
      await sql`INSERT INTO ${this.#grams} (rowid, grams) VALUES (${id}, ${gramTokens(text)})`.execute(
        kysely,
      );
    }
    const ids = JSON.stringify(rows.map(({ id }) => id));
    await sql`UPDATE ${this.#table} SET indexed = 1
      WHERE id IN (SELECT value FROM json_each(${ids}))`.execute(kysely);
    return rows.length;
  }
}

function likePattern(needle: string): string {
  return `%${needle.replace(/[\\%_]/g, '\\$&')}%`;
}

/** The one- and two-character parts of a text, each once, as tokens of ASCII letters and digits. */
function gramTokens(text: string): string {
  const grams = new Set<number>();
  let before = 0;
  for (const character of text) {
    const codePoint = character.codePointAt(0) as number;
    grams.add(codePoint);
    if (before !== 0) grams.add(gramOf(before, codePoint));
    before = codePoint;
  }
  let tokens = '';
  for (const gram of grams) tokens += `${tokenOf(gram)} `;
  return tokens;
}

function gramToken(needle: string): string {
  const [first = 0, second] = Array.from(needle, (character) => character.codePointAt(0) as number);
  return `"${tokenOf(second === undefined ? first : gramOf(first, second))}"`;
}

/** Different numbers for different pairs, none of them equal to a single code point. */
function gramOf(first: number, second: number): number {
  return first * 0x110000 + second;
}

function tokenOf(gram: number): string {
  return gram.toString(36);
}
