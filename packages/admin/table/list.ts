import type { Session } from '@octavo/data';
import { type Expression, type SqlBool, sql } from 'kysely';
import type { AdminTables } from '../changes/history.ts';
import type { Choice, Value, Values } from '../field.ts';
import type { ListPage, ListQuery, TableModel } from '../model.ts';
import { columnOf, type Registry } from '../registry.ts';
import {
  dynamic,
  keyCondition,
  orderListed,
  type Rows,
  rowsOf,
  selectFields,
  selectListed,
  titlesOf,
  toValues,
  whereListed,
} from './query.ts';

/** Totals are exact up to this. */
export const exactTotalMax = 10_000;
/** A search of more rows, which reads every letter of them, is run as one of a large table. */
const searchedMax = 500;
/** Most objects in a menu; with more, the user types a title or number to find one. */
export const menuMax = 200;
const choicesMax = 20;

/** One page of a table, with its total up to {@link exactTotalMax}. */
export async function listTable(registry: Registry, model: TableModel, query: ListQuery): Promise<ListPage> {
  const { database } = registry;
  const rowCount = await countTable(registry, model);
  const isLarge = rowCount.isCapped || (query.words.length > 0 && rowCount.total > searchedMax);
  const total = await countCapped(registry, model, query, isLarge);
  const isCapped = total > exactTotalMax;
  // Where many match, the first of them in order come soon; otherwise there are few to sort.
  const inOrder = isCapped && database.dialect === 'sqlite' ? await pairsOf(registry, model) : undefined;
  const keys = whereListed(selectKey(database, model), registry, model, { ...query, inOrder });
  // Columns are read, and computed, only of the rows that the page shows.
  const page = orderListed(keys, model, query.sort).limit(query.limit).offset(query.offset);
  const key = `${model.table}.${columnOf(model, model.key)}`;
  const rows = selectListed(dynamic(database), model).where(key, 'in', page) as Rows;
  const found = await rowsOf(database, orderListed(rows, model, query.sort), isLarge);
  return { rows: found.map(toValues), total: Math.min(total, exactTotalMax), isCapped };
}

const nothing = { words: [], filters: [] };

/** Number of rows of a table, exact up to {@link exactTotalMax}. */
export async function countTable(
  registry: Registry,
  model: TableModel,
): Promise<Pick<ListPage, 'total' | 'isCapped'>> {
  const total = await countCapped(registry, model, nothing, false);
  return { total: Math.min(total, exactTotalMax), isCapped: total > exactTotalMax };
}

/** The first two columns of each index of SQLite, such as `status created_at_ms`. */
async function pairsOf({ database }: Registry, { table }: TableModel): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ pair: string }>`SELECT one.name || ' ' || two.name AS pair
    FROM pragma_index_list(${table}) AS list, pragma_index_info(list.name) AS one, pragma_index_info(list.name) AS two
    WHERE one.seqno = 0 AND two.seqno = 1`.execute(database.kysely);
  return new Set(rows.map(({ pair }) => pair));
}

async function countCapped(
  registry: Registry,
  model: TableModel,
  query: Pick<ListQuery, 'words' | 'filters'>,
  isSlow: boolean,
): Promise<number> {
  const db = dynamic(registry.database);
  const matching = whereListed(
    db.selectFrom(model.table).select(sql`1`.as('one')) as Rows,
    registry,
    model,
    query,
  );
  const counted = db
    .selectFrom(matching.limit(exactTotalMax + 1).as('matching'))
    .select((eb) => eb.fn.countAll<number>().as('total'));
  const [row] = await rowsOf(registry.database, counted, isSlow);
  return row?.total ?? 0;
}

/** Every row of a list in batches, for an export. */
export function streamTable(
  registry: Registry,
  model: TableModel,
  query: Pick<ListQuery, 'words' | 'filters' | 'sort'>,
): AsyncIterable<Values[]> {
  const { database } = registry;
  const rows = whereListed(selectFields(dynamic(database), model), registry, model, query);
  return database.stream(orderListed(rows, model, query.sort).$castTo<Values>(), { batchRows: 500 });
}

/** Objects of a bulk action: those with these ids, or all that match a list. */
export type Selection =
  | { readonly ids: readonly string[] }
  | { readonly query: Pick<ListQuery, 'words' | 'filters'> };

/** The keys of a selection, as a subquery of one column. */
export function selectKeys(registry: Registry, model: TableModel, selection: Selection): Rows {
  const rows = selectKey(registry.database, model);
  if ('ids' in selection) return rows.where(keyCondition(model, selection.ids)) as Rows;
  return whereListed(rows, registry, model, selection.query);
}

function selectKey(session: Session<AdminTables>, model: TableModel): Rows {
  const key = `${model.table}.${columnOf(model, model.key)}`;
  return dynamic(session).selectFrom(model.table).select(`${key} as key`) as Rows;
}

/** The ids of a selection that exist, at most `limit`. */
export async function idsOf(
  registry: Registry,
  model: TableModel,
  selection: Selection,
  limit: number,
): Promise<string[]> {
  const keys = selectKeys(registry, model, selection)
    .orderBy(`${model.table}.${columnOf(model, model.key)}`)
    .limit(limit);
  const rows = await rowsOf(registry.database, keys, 'query' in selection);
  return rows.map(({ key }) => String(key));
}

/** Returns the number of objects in a selection. */
export async function countSelected(
  registry: Registry,
  model: TableModel,
  selection: Selection,
): Promise<number> {
  const counted = dynamic(registry.database)
    .selectFrom(selectKeys(registry, model, selection).as('selected'))
    .select((eb) => eb.fn.countAll<number>().as('total'));
  const [row] = await rowsOf(registry.database, counted, 'query' in selection);
  return row?.total ?? 0;
}

/** The objects that a field can refer to, or undefined if there are too many for a menu. */
export async function choicesOf(
  registry: Registry,
  model: TableModel,
): Promise<readonly Choice[] | undefined> {
  const rows = await selectTitles(registry, model)
    .orderBy(`${model.table}.${columnOf(model, model.title)}`)
    .limit(menuMax + 1)
    .execute();
  if (rows.length > menuMax) return undefined;
  return rows.map(toChoice);
}

/** Some objects that match every word, at most `limit`, and the one whose key is the only word first. */
export async function findChoices(
  registry: Registry,
  model: TableModel,
  words: readonly string[],
  limit = choicesMax,
): Promise<readonly Choice[]> {
  if (words.length === 0) return [];
  const byKey = selectTitles(registry, model).where(keyCondition(model, words.length === 1 ? words : []));
  const byWords = whereListed(selectTitles(registry, model), registry, model, { words, filters: [] });
  const [exact, matching] = await Promise.all([
    // An index may begin with another column, such as the owner.
    rowsOf(registry.database, byKey, true),
    // Without an order, so that a large table is read only until there are enough.
    rowsOf(registry.database, byWords.limit(limit), true),
  ]);
  return [...new Map([...exact, ...matching].map(toChoice))].slice(0, limit);
}

/** An object without a title has its key instead. */
function toChoice({ key, title }: Record<string, unknown>): Choice {
  return [String(key), String(title ?? '') || String(key)];
}

function selectTitles({ database }: Registry, model: TableModel): Rows {
  return dynamic(database)
    .selectFrom(model.table)
    .select([
      `${model.table}.${columnOf(model, model.key)} as key`,
      `${model.table}.${columnOf(model, model.title)} as title`,
    ]) as Rows;
}

/** Returns the titles of the objects that the rows refer to, by field and key. */
export async function referencedTitles(
  registry: Registry,
  model: TableModel,
  rows: readonly Values[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const titles = new Map<string, ReadonlyMap<string, string>>();
  for (const [name, { control }] of Object.entries(model.fields)) {
    if (control.type !== 'reference') continue;
    const other = registry.tableAt(control.model) as TableModel;
    const keys = rows.map((row) => row[name] ?? null);
    titles.set(name, await titlesOf(registry.database, other, keys));
  }
  return titles;
}

/** The first and the last value of the field with instants; undefined if there are no rows. */
export async function dateBounds(
  registry: Registry,
  model: TableModel,
  name: string,
): Promise<{ first: Value; last: Value } | undefined> {
  const column = sql.ref(`${model.table}.${columnOf(model, name)}`);
  // Without an index on the column, all rows are read.
  const { isCapped } = await countTable(registry, model);
  const bound = async (direction: 'asc' | 'desc') => {
    const query = dynamic(registry.database)
      .selectFrom(model.table)
      .select(sql<Value>`${column}`.as('value'))
      .where(sql<SqlBool>`${column} is not null` as Expression<SqlBool>)
      .orderBy(sql`${column}`, direction)
      .limit(1);
    const [row] = await rowsOf(registry.database, query, isCapped);
    return row;
  };
  const [first, last] = await Promise.all([bound('asc'), bound('desc')]);
  return first && last && { first: first.value as Value, last: last.value as Value };
}
