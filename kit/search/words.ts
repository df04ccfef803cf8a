import { type RawBuilder, sql } from 'kysely';
import { type Dialect, type Statement, statement, type WriteSession } from '../db/index.ts';
import { termsOf } from './terms.ts';
import type { Clause, WordQuery } from './word-query.ts';

export interface WordIndexOptions<Field extends string> {
  /** The index table; the README has its SQL. */
  readonly table: string;
  /**
   * The weight of a match in each field, in the order of the columns on SQLite. At most four different weights. With a
   * thousand times the weight a match in that field comes before any number of matches in the other.
   */
  readonly weights: Readonly<Record<Field, number>>;
}

/** Marks whole words on PostgreSQL, which keeps them among the stems. */
const wholeWord = '=';
/** On PostgreSQL no phrase reaches over such a gap between fields. */
const fieldGap = 2;
const labels = ['A', 'B', 'C', 'D'] as const;

/**
 * Finds documents by their words: stems, phrases, prefixes, exclusion; without regard to case and accents; best match
 * first. Words and stems are made here, so both databases find the same. A document is found as soon as the
 * transaction that put it has committed.
 */
export class WordIndex<Field extends string> {
  readonly #table: RawBuilder<unknown>;
  readonly #fields: readonly Field[];
  readonly #weights: readonly number[];
  readonly #putPostgres: Statement<{ id: number; terms: string }, unknown>;
  readonly #putSqlite: Statement<Record<string, string | number>, unknown>;
  readonly #remove: Statement<{ id: number }, unknown>;

  constructor({ table, weights }: WordIndexOptions<Field>) {
    this.#table = sql.table(table);
    this.#fields = Object.keys(weights) as Field[];
    this.#weights = Object.values(weights);
    const name = this.#table;
    this.#putPostgres = statement<unknown, { id: number; terms: string }>()(
      (_db, p) => sql`INSERT INTO ${name} (id, terms) VALUES (${p('id')}, ${p('terms')}::tsvector)
        ON CONFLICT (id) DO UPDATE SET terms = excluded.terms`,
    );
    const columns = this.#fields.flatMap((field) => [field, wordColumn(field)]);
    this.#putSqlite = statement<unknown, Record<string, string | number>>()(
      (
        _db,
        p,
      ) => sql`INSERT OR REPLACE INTO ${name} (rowid, ${sql.join(columns.map((column) => sql.ref(column)))})
        VALUES (${p('id')}, ${sql.join(columns.map((column) => p(column)))})`,
    );
    this.#remove = statement<unknown, { id: number }>()(
      (_db, p, dialect) => sql`DELETE FROM ${name} WHERE ${idColumn(dialect)} = ${p('id')}`,
    );
  }

  /** Adds a document, or replaces the one with this id. Ids are whole numbers. */
  async put<DB>(
    session: WriteSession<DB>,
    id: number,
    texts: Readonly<Record<Field, string>>,
  ): Promise<void> {
    if (session.dialect === 'postgres') {
      await this.#putPostgres.run(session, { id, terms: this.#tsvector(texts) });
      return;
    }
    const values: Record<string, string | number> = { id };
    for (const field of this.#fields) {
      const terms = termsOf(texts[field]);
      values[field] = terms.map(({ stem }) => stem).join(' ');
      values[wordColumn(field)] = terms.map(({ word }) => word).join(' ');
    }
    await this.#putSqlite.run(session, values);
  }

  /** Removes a document; there may be none. */
  async remove<DB>(session: WriteSession<DB>, id: number): Promise<void> {
    await this.#remove.run(session, { id });
  }

  /** A subquery of the documents that match, to be joined with their table. A higher `score` is a better match. */
  matches(dialect: Dialect, query: WordQuery): RawBuilder<{ id: number; score: number }> {
    if (query.wanted.length === 0) return sql`(SELECT 0 AS id, 0.0 AS score WHERE 1 = 0)`;
    if (dialect === 'postgres') {
      const wanted = sql`${tsquery(query)}::tsquery`;
      return sql`(SELECT id, ts_rank(${this.#labelWeights()}::real[], terms, ${wanted}) AS score
        FROM ${this.#table} WHERE terms @@ ${wanted})`;
    }
    const weights = sql.join(this.#weights.flatMap((weight) => [sql.lit(weight), sql.lit(weight)]));
    return sql`(SELECT rowid AS id, -bm25(${this.#table}, ${weights}) AS score
      FROM ${this.#table} WHERE ${this.#table} MATCH ${ftsQuery(query, this.#fields)})`;
  }

  /** The text form of a `tsvector`: each stem and each word with its positions and the label of its field. */
  #tsvector(texts: Readonly<Record<Field, string>>): string {
    const positions = new Map<string, string[]>();
    const note = (lexeme: string, position: string) => {
      const known = positions.get(lexeme);
      if (known) known.push(position);
      else positions.set(lexeme, [position]);
    };
    let position = 0;
    for (const [index, field] of this.#fields.entries()) {
      for (const { word, stem } of termsOf(texts[field])) {
        position++;
        const at = `${position}${this.#label(this.#weights[index] as number)}`;
        note(stem, at);
        note(`${wholeWord}${word}`, at);
      }
      position += fieldGap;
    }
    return Array.from(positions, ([lexeme, at]) => `'${lexeme}':${at.join(',')}`).join(' ');
  }

  #label(weight: number): string {
    return labels[this.#distinctWeights().indexOf(weight)] as string;
  }

  /** PostgreSQL wants the weights of D, C, B and A, each from 0 to 1. */
  #labelWeights(): string {
    const weights = this.#distinctWeights();
    const shares = labels.map((_, index) => (weights[index] ?? 0) / (weights[0] as number));
    return `{${shares.reverse().join(',')}}`;
  }

  #distinctWeights(): number[] {
    return [...new Set(this.#weights)].sort((a, b) => b - a);
  }
}

function wordColumn(field: string): string {
  return `${field}_word`;
}

function idColumn(dialect: Dialect): RawBuilder<unknown> {
  return dialect === 'sqlite' ? sql`rowid` : sql`id`;
}

/** In the query language of FTS5. Stems and words are in columns of their own. */
function ftsQuery({ wanted, unwanted, match }: WordQuery, fields: readonly string[]): string {
  const stems = `{${fields.join(' ')}}`;
  const words = `{${fields.map(wordColumn).join(' ')}}`;
  const phrase = (texts: readonly string[]) => `"${texts.join(' ')}"`;
  const expression = ({ terms, prefix }: Clause): string => {
    const byStems = `${stems} : ${phrase(terms.map(({ stem }) => stem))}`;
    const byPrefix = `${words} : ${phrase(terms.map(({ word }) => word))} *`;
    if (prefix === undefined) return `(${byStems})`;
    return prefix === 'only' ? `(${byPrefix})` : `((${byStems}) OR (${byPrefix}))`;
  };
  const found = wanted.map(expression).join(match === 'every' ? ' AND ' : ' OR ');
  if (unwanted.length === 0) return found;
  return `(${found}) NOT (${unwanted.map(expression).join(' OR ')})`;
}

/** In the query language of PostgreSQL. */
function tsquery({ wanted, unwanted, match }: WordQuery): string {
  const lexemes = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(' <-> ');
  const expression = ({ terms, prefix }: Clause): string => {
    const byStems = lexemes(terms.map(({ stem }) => stem));
    const byPrefix = `${lexemes(terms.map(({ word }) => `${wholeWord}${word}`))}:*`;
    if (prefix === undefined) return `(${byStems})`;
    return prefix === 'only' ? `(${byPrefix})` : `((${byStems}) | (${byPrefix}))`;
  };
  const found = wanted.map(expression).join(match === 'every' ? ' & ' : ' | ');
  return [`(${found})`, ...unwanted.map((clause) => `!${expression(clause)}`)].join(' & ');
}
