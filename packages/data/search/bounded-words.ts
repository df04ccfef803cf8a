import { type RawBuilder, sql } from 'kysely';
import type { Dialect, Session, WriteSession } from '../db/index.ts';
import { type Term, termsOf } from './terms.ts';
import type { Clause, WordQuery } from './word-query.ts';

export interface BoundedWordIndexOptions<Field extends string> {
  /** The index table; docs/large-collections.md has its SQL. */
  readonly table: string;
  readonly fields: readonly Field[];
  /** Fields in which a match comes before all matches in other fields only, such as the title. */
  readonly leadFields: readonly Field[];
}

/** A document that matches. */
export interface WordMatch {
  readonly id: number;
  /** True if a wanted clause matches in a lead field. */
  readonly isLead: boolean;
}

/**
 * Finds documents by their words like `WordIndex`, for collections in which a common word is in hundreds of thousands of
 * documents: it never looks at all matches. {@link first} finds a bounded number of them, which `rankDocuments` puts in order.
 */
export class BoundedWordIndex<Field extends string> {
  readonly #options: BoundedWordIndexOptions<Field>;
  readonly #table: RawBuilder<unknown>;

  constructor(options: BoundedWordIndexOptions<Field>) {
    this.#options = options;
    this.#table = sql.table(options.table);
  }

  /** Adds a document, or replaces the one with this id. Ids are positive whole numbers, best without large gaps. */
  async put<DB>(
    session: WriteSession<DB>,
    id: number,
    texts: Readonly<Record<Field, string>>,
  ): Promise<void> {
    const sections = this.#sections(texts);
    const terms = session.dialect === 'sqlite' ? ftsText(sections) : tsvector(sections, shelfOf(id));
    const put =
      session.dialect === 'sqlite'
        ? sql`INSERT OR REPLACE INTO ${this.#table} (rowid, terms) VALUES (${id}, ${terms})`
        : sql`INSERT INTO ${this.#table} (id, terms) VALUES (${id}, ${terms}::tsvector)
            ON CONFLICT (id) DO UPDATE SET terms = excluded.terms`;
    await put.execute(session.kysely);
  }

  /** Removes a document; there may be none. */
  async remove<DB>(session: WriteSession<DB>, id: number): Promise<void> {
    const key = idColumn(session.dialect);
    await sql`DELETE FROM ${this.#table} WHERE ${key} = ${id}`.execute(session.kysely);
  }

  /**
   * The first documents that match: those that match in a lead field by ascending id, then the others by ascending id, at most
   * `limit` together. The time that it takes grows with `limit` and not with the number of matches.
   */
  async first<DB>(session: Session<DB>, query: WordQuery, limit: number): Promise<WordMatch[]> {
    if (query.wanted.length === 0) return [];
    const leads = await this.#firstIds(session, query, { limit, isLead: true });
    const found = leads.map((id) => ({ id, isLead: true }));
    if (leads.length >= limit) return found;
    const known = new Set(leads);
    const all = await this.#firstIds(session, query, { limit, isLead: false });
    for (const id of all) if (!known.has(id) && found.length < limit) found.push({ id, isLead: false });
    return found;
  }

  /** Returns the number of matching documents; `max` if there are that many or more. */
  async count<DB>(session: Session<DB>, query: WordQuery, max: number): Promise<number> {
    if (query.wanted.length === 0) return 0;
    const text = session.dialect === 'sqlite' ? ftsQuery(query) : tsquery(query);
    const { rows } = await sql<{ total: number }>`SELECT count(*) AS total FROM (
        SELECT 1 FROM ${this.#table} WHERE ${isMatch(this.#table, session.dialect, sql`${text}`)} LIMIT ${max}
      ) AS found`.execute(session.kysely);
    return rows[0]?.total ?? 0;
  }

  /** A subquery of the ids of all documents that match, to be joined with other conditions. */
  matchingIds(dialect: Dialect, query: WordQuery): RawBuilder<{ id: number }> {
    if (query.wanted.length === 0) return sql`(SELECT 0 AS id WHERE 1 = 0)`;
    const table = this.#table;
    const text = dialect === 'sqlite' ? ftsQuery(query) : tsquery(query);
    return sql`(SELECT ${idColumn(dialect)} AS id FROM ${table} WHERE ${isMatch(table, dialect, sql`${text}`)})`;
  }

  /** SQLite stops at the limit by itself. PostgreSQL finds all matches, so it looks among few documents first. */
  async #firstIds<DB>(
    session: Session<DB>,
    query: WordQuery,
    { limit, isLead }: { limit: number; isLead: boolean },
  ): Promise<number[]> {
    if (session.dialect === 'sqlite') {
      const { rows } = await sql<{ id: number }>`SELECT rowid AS id FROM ${this.#table}
        WHERE ${this.#table} MATCH ${ftsQuery(query, isLead)} ORDER BY rowid LIMIT ${limit}`.execute(
        session.kysely,
      );
      return rows.map(({ id }) => id);
    }
    // Otherwise the planner may walk through all documents in their order.
    const find = async (text: string) => {
      const { rows } = await sql<{ id: number }>`WITH found AS MATERIALIZED (
          SELECT id FROM ${this.#table} WHERE terms @@ ${text}::tsquery
        ) SELECT id FROM found ORDER BY id LIMIT ${limit}`.execute(session.kysely);
      return rows.map(({ id }) => id);
    };
    const parts: string[] = [];
    for (const shelf of shelves.keys()) {
      parts.push(`(${tsquery(query, isLead, shelfMark(shelf))})`);
      const ids = await find(parts.join(' | '));
      if (ids.length >= limit) return ids;
    }
    return find(tsquery(query, isLead));
  }

  #sections(texts: Readonly<Record<Field, string>>): Section[] {
    const { fields, leadFields } = this.#options;
    return fields.flatMap((field) => {
      const terms = termsOf(texts[field]);
      const plain = [
        { mark: '', terms, key: 'stem' },
        { mark: wholeWord, terms, key: 'word' },
      ] as const;
      if (!leadFields.includes(field)) return plain;
      return [...plain, ...plain.map((section) => ({ ...section, mark: `${lead}${section.mark}` }))];
    });
  }
}

/** A text as words or stems, each behind a mark. No word contains such marks, so every kind has an index of its own. */
interface Section {
  readonly mark: string;
  readonly terms: readonly Term[];
  readonly key: 'stem' | 'word';
}

const wholeWord = '=';
const lead = '@';
/** Between sections, so that no phrase reaches over their border. */
const border = '/';
const fieldGap = 2;

/**
 * On PostgreSQL the documents with the smallest ids are indexed a second time under the mark of their shelf: the first 4,096,
 * the next up to 32,768, and up to 262,144. A search that finds enough on the first shelves ends there. One that does not
 * has few matches, eight times the limit on the next shelf at most, if matches are spread evenly.
 */
const shelves = [4_096, 32_768, 262_144];

function shelfOf(id: number): string | undefined {
  const shelf = shelves.findIndex((end) => id <= end);
  return shelf === -1 ? undefined : shelfMark(shelf);
}

function shelfMark(shelf: number): string {
  return `${shelf}${border}`;
}

function idColumn(dialect: Dialect): RawBuilder<unknown> {
  return dialect === 'sqlite' ? sql`rowid` : sql`id`;
}

function isMatch(
  table: RawBuilder<unknown>,
  dialect: Dialect,
  query: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return dialect === 'sqlite' ? sql`${table} MATCH ${query}` : sql`terms @@ ${query}::tsquery`;
}

/** The text that FTS5 indexes: words between spaces. */
function ftsText(sections: readonly Section[]): string {
  return sections
    .map(({ mark, terms, key }) => terms.map((term) => `${mark}${term[key]}`).join(' '))
    .join(` ${border} `);
}

/** The text form of a `tsvector`: each word with its positions. */
function tsvector(sections: readonly Section[], shelf: string | undefined): string {
  const positions = new Map<string, number[]>();
  const note = (lexeme: string, position: number) => {
    const known = positions.get(lexeme);
    if (known) known.push(position);
    else positions.set(lexeme, [position]);
  };
  let position = 0;
  for (const { mark, terms, key } of sections) {
    for (const term of terms) {
      position++;
      note(`${mark}${term[key]}`, position);
      if (shelf !== undefined) note(`${shelf}${mark}${term[key]}`, position);
    }
    position += fieldGap;
  }
  return Array.from(positions, ([lexeme, at]) => `'${lexeme}':${at.join(',')}`).join(' ');
}

/** The query in the language of FTS5; with `isLead`, at least one wanted clause matches in a lead field. */
function ftsQuery(query: WordQuery, isLead = false): string {
  const phrase = (words: readonly string[]) => `"${words.join(' ')}"`;
  return written(query, {
    mark: '',
    isLead,
    operators: { and: ' AND ', or: ' OR ', without: ' NOT ' },
    phrase,
    prefix: (words) => `${phrase(words)} *`,
  });
}

/** The query in the language of PostgreSQL, for the words of one shelf or for all. */
function tsquery(query: WordQuery, isLead = false, mark = ''): string {
  const phrase = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' <-> ');
  return written(query, {
    mark,
    isLead,
    operators: { and: ' & ', or: ' | ', without: ' & !' },
    phrase,
    prefix: (words) => `${phrase(words)}:*`,
  });
}

interface Language {
  readonly mark: string;
  readonly isLead: boolean;
  readonly operators: { readonly and: string; readonly or: string; readonly without: string };
  phrase(words: readonly string[]): string;
  prefix(words: readonly string[]): string;
}

function written({ wanted, unwanted, match }: WordQuery, language: Language): string {
  const { mark, isLead, operators, phrase, prefix: prefixOf } = language;
  const expression = ({ terms, prefix }: Clause, kind: string): string => {
    const byStems = phrase(terms.map(({ stem }) => `${kind}${stem}`));
    const byPrefix = prefixOf(terms.map(({ word }) => `${kind}${wholeWord}${word}`));
    if (prefix === undefined) return `(${byStems})`;
    return prefix === 'only' ? `(${byPrefix})` : `((${byStems})${operators.or}(${byPrefix}))`;
  };
  const found = [
    `(${wanted.map((clause) => expression(clause, mark)).join(match === 'every' ? operators.and : operators.or)})`,
  ];
  if (isLead)
    found.push(`(${wanted.map((clause) => expression(clause, `${mark}${lead}`)).join(operators.or)})`);
  const every = found.join(operators.and);
  if (unwanted.length === 0) return every;
  return `(${every})${operators.without}(${unwanted.map((clause) => expression(clause, mark)).join(operators.or)})`;
}
