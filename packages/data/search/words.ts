import { type RawBuilder, sql } from 'kysely';
import type { Dialect, WriteSession } from '../db/index.ts';
import {
  distinctWeights,
  labels,
  markOf,
  type PreparedWords,
  prepareWords,
  type WordLayout,
  wholeWord,
  wordColumn,
} from './prepared-words.ts';
import type { Clause, WordQuery } from './word-query.ts';

export interface WordIndexOptions<Field extends string> extends WordLayout<Field> {
  /** The index table; docs/tables.md has its SQL. */
  readonly table: string;
}

/**
 * Finds documents by their words: stems, phrases, prefixes, exclusion; without regard to case and accents; best match
 * first. Words and stems are made here, so both databases find the same. A document is found as soon as the
 * transaction that put it has committed.
 */
export class WordIndex<Field extends string> {
  readonly #table: RawBuilder<unknown>;
  readonly #layout: WordLayout<Field>;
  readonly #fields: readonly Field[];
  readonly #weights: readonly number[];
  readonly #hasPrefixes: boolean;
  /** Columns on SQLite, besides `rowid`. */
  readonly #columns: readonly string[];

  constructor({ table, weights, hasPrefixes = true }: WordIndexOptions<Field>) {
    this.#layout = { weights, hasPrefixes };
    this.#table = sql.table(table);
    this.#fields = Object.keys(weights) as Field[];
    this.#weights = Object.values(weights);
    this.#hasPrefixes = hasPrefixes;
    this.#columns = this.#fields.flatMap((field) => (hasPrefixes ? [field, wordColumn(field)] : [field]));
  }

  /** Adds a document, or replaces the one with this id. Ids are whole numbers. See {@link matches} for the scope. */
  async put<DB>(
    session: WriteSession<DB>,
    id: number,
    texts: Readonly<Record<Field, string>>,
    scope?: number,
  ): Promise<void> {
    await this.putPrepared(session, id, this.prepare(session.dialect, texts, scope));
  }

  /** Prepares the columns that {@link putPrepared} writes for a document on that database. */
  prepare(dialect: Dialect, texts: Readonly<Record<Field, string>>, scope?: number): PreparedWords {
    return prepareWords(dialect, this.#layout, texts, scope);
  }

  /** Like `put`, with what `prepare` returned. */
  async putPrepared<DB>(session: WriteSession<DB>, id: number, prepared: PreparedWords): Promise<void> {
    if (session.dialect === 'postgres') {
      await sql`INSERT INTO ${this.#table} (id, terms) VALUES (${id}, ${prepared.terms ?? ''}::tsvector)
        ON CONFLICT (id) DO UPDATE SET terms = excluded.terms`.execute(session.kysely);
    } else {
      const values = this.#columns.map((column) => prepared[column] ?? '');
      await sql`INSERT OR REPLACE INTO ${this.#table} (rowid, ${this.#columnList()})
        VALUES (${id}, ${sql.join(values)})`.execute(session.kysely);
    }
  }

  /** Like {@link put} for many documents, by one statement. */
  async putAll<DB>(
    session: WriteSession<DB>,
    documents: readonly { readonly id: number; readonly texts: Readonly<Record<Field, string>> }[],
    scope?: number,
  ): Promise<void> {
    const rows = documents.map(({ id, texts }) => [
      id,
      ...Object.values(this.prepare(session.dialect, texts, scope)),
    ]);
    const given = JSON.stringify(rows);
    if (session.dialect === 'postgres') {
      await sql`INSERT INTO ${this.#table} (id, terms)
        SELECT (value ->> 0)::bigint, (value ->> 1)::tsvector FROM jsonb_array_elements(${given}::jsonb)
        ON CONFLICT (id) DO UPDATE SET terms = excluded.terms`.execute(session.kysely);
    } else {
      const values = ['rowid', ...this.#columns].map((_, index) => sql`value ->> ${sql.lit(index)}`);
      await sql`INSERT OR REPLACE INTO ${this.#table} (rowid, ${this.#columnList()})
        SELECT ${sql.join(values)} FROM jsonb_each(${given})`.execute(session.kysely);
    }
  }

  /** Removes a document; there may be none. */
  async remove<DB>(session: WriteSession<DB>, id: number): Promise<void> {
    const key = idColumn(session.dialect);
    await sql`DELETE FROM ${this.#table} WHERE ${key} = ${id}`.execute(session.kysely);
  }

  /**
   * A subquery of the documents that match, to be joined with their table. A higher `score` is a better match. With a scope, such
   * as the number of their owner, only documents that were put with the same scope match; a search then costs as much as if there
   * were no others.
   */
  matches(dialect: Dialect, query: WordQuery, scope?: number): RawBuilder<{ id: number; score: number }> {
    const mark = markOf(scope);
    if (query.wanted.length === 0) return sql`(SELECT 0 AS id, 0.0 AS score WHERE 1 = 0)`;
    if (dialect === 'postgres') {
      const wanted = sql`${tsquery(query, mark)}::tsquery`;
      return sql`(SELECT id, ${this.#rank(query, mark)} AS score FROM ${this.#table} WHERE terms @@ ${wanted})`;
    }
    const columnsEach = this.#hasPrefixes ? [0, 1] : [0];
    const weights = sql.join(this.#weights.flatMap((weight) => columnsEach.map(() => sql.lit(weight))));
    return sql`(SELECT rowid AS id, -bm25(${this.#table}, ${weights}) AS score
      FROM ${this.#table} WHERE ${this.#table} MATCH ${ftsQuery(query, this.#fields, mark)})`;
  }

  #columnList(): RawBuilder<unknown> {
    return sql.join(this.#columns.map((column) => sql.ref(column)));
  }

  /** Ranks by all clauses together, or by each with its weight; then long texts are held back, as FTS5 does it. */
  #rank(query: WordQuery, mark: string): RawBuilder<number> {
    const labelWeights = sql`${this.#labelWeights()}::real[]`;
    const hasWeights = query.wanted.some(({ weight }) => weight !== undefined);
    if (!hasWeights) return sql`ts_rank(${labelWeights}, terms, ${tsquery(query, mark)}::tsquery)`;
    const ranks = query.wanted.map((clause) => {
      const alone = tsquery({ wanted: [clause], unwanted: [], match: 'any' }, mark);
      return sql`${clause.weight ?? 1}::real * ts_rank(${labelWeights}, terms, ${alone}::tsquery, 1)`;
    });
    return sql`(${sql.join(ranks, sql` + `)})`;
  }

  /** PostgreSQL wants the weights of D, C, B and A, each from 0 to 1. */
  #labelWeights(): string {
    const weights = distinctWeights(this.#weights);
    const shares = labels.map((_, index) => (weights[index] ?? 0) / (weights[0] as number));
    return `{${shares.reverse().join(',')}}`;
  }
}

function idColumn(dialect: Dialect): RawBuilder<unknown> {
  return dialect === 'sqlite' ? sql`rowid` : sql`id`;
}

/** The query in the language of FTS5. Stems and words are in columns of their own. */
function ftsQuery({ wanted, unwanted, match }: WordQuery, fields: readonly string[], mark: string): string {
  const stems = `{${fields.join(' ')}}`;
  const words = `{${fields.map(wordColumn).join(' ')}}`;
  const phrase = (texts: readonly string[]) => `"${texts.map((text) => mark + text).join(' ')}"`;
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

/** The query in the language of PostgreSQL. */
function tsquery({ wanted, unwanted, match }: WordQuery, mark: string): string {
  const lexemes = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(' <-> ');
  const expression = ({ terms, prefix }: Clause): string => {
    const byStems = lexemes(terms.map(({ stem }) => mark + stem));
    const byPrefix = `${lexemes(terms.map(({ word }) => `${wholeWord}${mark}${word}`))}:*`;
    if (prefix === undefined) return `(${byStems})`;
    return prefix === 'only' ? `(${byPrefix})` : `((${byStems}) | (${byPrefix}))`;
  };
  const found = wanted.map(expression).join(match === 'every' ? ' & ' : ' | ');
  return [`(${found})`, ...unwanted.map((clause) => `!${expression(clause)}`)].join(' & ');
}
