import type { Database, Session } from '@octavo/data';
import { containsWord } from '@octavo/data/search';
import {
  type Compilable,
  type Expression,
  type ExpressionBuilder,
  type Kysely,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import type { AdminTables } from '../changes/history.ts';
import type { Value, Values } from '../field.ts';
import type { Column, ListFilter, ListQuery, TableModel } from '../model.ts';
import { columnOf, type Registry, storedFields } from '../registry.ts';

/** Tables by name: models name theirs when they are declared. */
export type AnyTables = Record<string, Record<string, unknown>>;
export type Rows = SelectQueryBuilder<AnyTables, string, Record<string, unknown>>;

/** Queries on tables by name. */
export function dynamic(session: Session<AdminTables>): Kysely<AnyTables> {
  return session.kysely as unknown as Kysely<AnyTables>;
}

/** The rows of a model with its fields under their names. */
export function selectFields(db: Kysely<AnyTables>, model: TableModel): Rows {
  const names = [model.key, ...storedFields(model).map(([name]) => name)];
  return db
    .selectFrom(model.table)
    .select([...new Set(names)].map((name) => `${model.table}.${columnOf(model, name)} as ${name}`)) as Rows;
}

/** Selects the fields with the computed columns of the list. */
export function selectListed(db: Kysely<AnyTables>, model: TableModel): Rows {
  const computed = model.columns.filter(
    (column): column is Column & { name: string; expression: Expression<unknown> } =>
      typeof column !== 'string' && column.name !== undefined && column.expression !== undefined,
  );
  return computed.reduce(
    (query, { name, expression }) => query.select(sql`${expression}`.as(name)) as Rows,
    selectFields(db, model),
  );
}

/**
 * Only the rows that a list shows on all of its pages. With `inOrder`, SQLite is to read them in the order of the list until a page is full.
 * Of the indexes on filters, which it would prefer however many rows match, it uses only those that have this order: `inOrder` has the
 * pairs of columns with which indexes begin.
 */
export function whereListed(
  query: Rows,
  registry: Registry,
  model: TableModel,
  { words, filters, sort, inOrder }: Narrowing,
): Rows {
  const first = columnOf(model, sort?.[0]?.name ?? model.key);
  const isOfUse = ({ name }: ListFilter) => !inOrder || inOrder.has(`${columnOf(model, name)} ${first}`);
  const condition = (filter: ListFilter) => conditionOf(model, filter, isOfUse(filter));
  const filtered = filters.reduce((rows, filter) => rows.where(condition(filter)) as Rows, query);
  if (words.length === 0) return filtered;
  if (model.searchBy) return filtered.where(model.searchBy(words)) as Rows;
  return words.reduce(
    (rows, word) => rows.where((eb) => contains(eb, registry, model, word)) as Rows,
    filtered,
  );
}

interface Narrowing extends Pick<ListQuery, 'words' | 'filters'>, Partial<Pick<ListQuery, 'sort'>> {
  readonly inOrder?: ReadonlySet<string> | undefined;
}

/** The order of the list; the key decides between equals. */
export function orderListed(query: Rows, model: TableModel, sort: ListQuery['sort']): Rows {
  const last = sort.at(-1);
  const byKey = { name: model.key, isDescending: last?.isDescending ?? false };
  const all = sort.some(({ name }) => name === model.key) ? sort : [...sort, byKey];
  return all.reduce((rows, { name, isDescending }) => {
    const direction = isDescending ? 'desc' : 'asc';
    const computed = model.columns.find(
      (column) => typeof column !== 'string' && column.name === name,
    ) as Column;
    if (computed?.expression) return rows.orderBy(sql`${computed.expression}`, direction) as Rows;
    return rows.orderBy(`${model.table}.${columnOf(model, name)}`, direction) as Rows;
  }, query);
}

/** Returns a condition that a key is one of these, given as texts. */
export function keyCondition(model: TableModel, ids: readonly string[]): Expression<SqlBool> {
  const column = sql.ref(`${model.table}.${columnOf(model, model.key)}`);
  const values = ids.map((id) => keyValue(model, id)).filter((value) => value !== undefined);
  if (values.length === 0) return sql<SqlBool>`1 = 0`;
  return sql<SqlBool>`${column} in (${sql.join(values)})`;
}

/** The condition of `where` for one key. */
function keyValue(model: TableModel, id: string): Expression<unknown> | undefined {
  if (model.keyIsText) return id.includes('\0') || !id.isWellFormed() ? undefined : sql`${id}`;
  const number = Number(id);
  // A wider type than that of the column, so that a number that is too large is found nowhere.
  if (!/^-?\d{1,16}$/.test(id) || !Number.isSafeInteger(number)) return undefined;
  return sql`cast(${number} as bigint)`;
}

function conditionOf(model: TableModel, filter: ListFilter, usesIndex: boolean): Expression<SqlBool> {
  const own = model.filters?.find((each) => typeof each !== 'string' && each.name === filter.name);
  if (own && typeof own !== 'string') return own.where(String(filter.equals));
  const stored = sql.ref(`${model.table}.${columnOf(model, filter.name)}`);
  // https://www.sqlite.org/optoverview.html#disqualifying_where_clause_terms_using_unary_
  const column = usesIndex ? stored : sql`+${stored}`;
  const conditions: Expression<SqlBool>[] = [];
  if (filter.equals === null) conditions.push(sql<SqlBool>`${column} is null`);
  else if (filter.equals !== undefined) conditions.push(sql<SqlBool>`${column} = ${filter.equals}`);
  if (filter.from !== undefined) conditions.push(sql<SqlBool>`${column} >= ${filter.from}`);
  if (filter.until !== undefined) conditions.push(sql<SqlBool>`${column} < ${filter.until}`);
  return sql<SqlBool>`(${sql.join(conditions, sql` and `)})`;
}

/** A word is in one of the fields; for a reference, in what names the object. */
function contains(
  eb: ExpressionBuilder<AnyTables, string>,
  registry: Registry,
  model: TableModel,
  word: string,
): Expression<SqlBool> {
  const isIn = (column: string) => containsWord(registry.database.dialect, sql.ref(column), word);
  const conditions = (model.search ?? []).map((name) => {
    const column = `${model.table}.${columnOf(model, name)}`;
    const control = model.fields[name]?.control;
    const other = control?.type === 'reference' ? registry.tableAt(control.model) : undefined;
    if (!other) return isIn(column);
    const key = sql.ref(`${other.table}.${columnOf(other, other.key)}`);
    const title = isIn(`${other.table}.${columnOf(other, other.title)}`);
    return sql<SqlBool>`${sql.ref(column)} in (select ${key} from ${sql.table(other.table)} where ${title})`;
  });
  return conditions.length === 0 ? sql<SqlBool>`1 = 0` : eb.or(conditions);
}

/** Runs a query; with `isSlow`, on SQLite in a thread of its own, so that it delays no other request. */
export async function rowsOf<R>(
  database: Database<AdminTables>,
  query: Compilable<R> & { execute(): Promise<R[]> },
  isSlow: boolean,
): Promise<R[]> {
  if (!isSlow || database.dialect === 'postgres') return query.execute();
  const rows: R[] = [];
  for await (const batch of database.stream(query, { batchRows: 500 })) rows.push(...batch);
  return rows;
}

/** The titles of objects by key, for references. */
export async function titlesOf(
  session: Session<AdminTables>,
  model: TableModel,
  keys: readonly Value[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(keys.filter((key) => key !== null).map(String))];
  if (wanted.length === 0) return new Map();
  const rows = await dynamic(session)
    .selectFrom(model.table)
    .select([
      `${model.table}.${columnOf(model, model.key)} as key`,
      `${model.table}.${columnOf(model, model.title)} as title`,
    ])
    .where(keyCondition(model, wanted))
    .execute();
  return new Map(
    (rows as { key: unknown; title: unknown }[]).map(({ key, title }) => [String(key), String(title)]),
  );
}

/** A row as values. */
export function toValues(row: Record<string, unknown>): Values {
  return row as Values;
}
