import { createHash } from 'node:crypto';
import type { Query } from '../session.ts';
import { quoteName } from './pool.ts';

/** Length of all texts that are remembered. Statements that are built on the fly have few shapes, but those of many rows are long. */
const charactersMax = 4_000_000;

/**
 * Names the tables of a schema in full in the text of statements, so that they do not depend on the `search_path` of the connection, which
 * services share. A statement that stays prepared has another name in each schema.
 */
export class SchemaNames {
  readonly #schema: string;
  readonly #keepsNames: boolean;
  readonly #tables: ReadonlySet<string>;
  readonly #known = new Map<string, { readonly sql: string; readonly name: string }>();
  #characters = 0;

  constructor(schema: string, tables: Iterable<string>, { keepsNames }: { readonly keepsNames: boolean }) {
    this.#keepsNames = keepsNames;
    this.#schema = quoteName(schema);
    this.#tables = new Set(tables);
  }

  /** The query with the names of tables in full. */
  inFull(query: Query): Query {
    const { sql, name } = this.#known.get(query.sql) ?? this.#learn(query.sql);
    if (query.name === undefined) return { ...query, sql };
    if (this.#keepsNames) return { ...query, sql, name };
    const { name: _, ...unnamed } = query;
    return { ...unnamed, sql };
  }

  #learn(text: string): { readonly sql: string; readonly name: string } {
    const given = new Set(Array.from(text.matchAll(namedQuery), ([, name = '']) => unquoted(name)));
    const isTable = (name: string) => this.#tables.has(name) && !given.has(name);
    const sql = replaceTables(text, (name) => (isTable(unquoted(name)) ? `${this.#schema}.${name}` : name));
    const known = { sql, name: createHash('sha256').update(sql).digest('base64url') };
    this.#characters += text.length;
    if (this.#characters > charactersMax) {
      this.#known.clear();
      this.#characters = text.length;
    }
    this.#known.set(text, known);
    return known;
  }
}

/** Replaces each name in the place of a table: after FROM, JOIN, INTO and UPDATE, and after commas of a list of tables. */
function replaceTables(sql: string, replace: (name: string) => string): string {
  const outer: boolean[] = [];
  let isList = false;
  let isNext = false;
  let before = '';
  return sql.replace(token, (text, offset: number) => {
    if (isComment.test(text)) return text;
    const word = text.toLowerCase();
    const isOperator = notTables.test(`${before} ${word}`);
    before = word;
    if (text === '(') {
      outer.push(isList);
      isList = isNext;
    } else if (text === ')') {
      isList = outer.pop() ?? false;
      isNext = false;
    } else if (text === ',') {
      isNext = isList;
    } else if (beforeTable.has(word)) {
      isNext = !isOperator && !(word === 'using' && columns.test(sql.slice(offset + text.length)));
      if (isNext && word !== 'join') isList = word === 'from' || word === 'using';
    } else if (!besideTable.has(word)) {
      const isName = isNext && !sql.slice(offset + text.length).startsWith('.');
      isNext = false;
      if (afterTables.has(word)) isList = false;
      else if (isName) return replace(text);
    }
    return text;
  });
}

const isComment = /^(?:--|\/\*)/;
/** Texts and comments as wholes, then names, quoted or not, and marks. */
const token = /'(?:[^']|'')*'|--[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"]|"")*"|[a-z_][\w$]*|[(),]/gi;
const beforeTable = new Set(['from', 'join', 'into', 'update', 'using']);
const besideTable = new Set(['only', 'lateral']);
const afterTables = new Set(
  'select where group order having limit offset set returning union except intersect values for window'.split(
    ' ',
  ),
);
/** `IS DISTINCT FROM`, and the locks of rows. */
const notTables = /^(?:distinct from|for update|key update)$/;
/** `JOIN … USING (columns)`. */
const columns = /^\s*\(/;
/** A query of WITH, which hides a table of its name. */
const namedQuery =
  /("(?:[^"]|"")*"|[a-z_][\w$]*)\s*(?:\([^()]*\)\s*)?\bas\s+(?:not\s+)?(?:materialized\s*)?\(/gi;

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name.toLowerCase();
}
