import { sql } from 'kysely';
import type { Value, Values } from './field.ts';
import { type ForeignKey, foreignKeysOf } from './foreign-keys.ts';
import type { AdminTables } from './history.ts';
import { type Change, recordChanges } from './history.ts';
import type { TableAction, TableModel } from './model.ts';
import { columnOf, idOf, type Site, titleOf } from './site.ts';
import { type Selection, selectKeys } from './table-list.ts';
import {
  type AnyTables,
  dynamic,
  keyCondition,
  type Rows,
  rowsOf,
  selectFields,
  toValues,
} from './table-query.ts';
import type { Actor } from './user.ts';

/** Rows of a table that a deletion touches. */
export interface Dependent {
  /** In the plural, such as `votes`. */
  readonly label: string;
  /** The model of the table, if it has one. */
  readonly model: TableModel | undefined;
  readonly count: number;
  /** Deleted as well, kept without the reference, or in the way. */
  readonly effect: ForeignKey['onDelete'];
}

/** Objects are changed and deleted in transactions of so many. */
const sliceRows = 500;
/** Cascades are followed so deep. */
const levelsMax = 5;

/** What a deletion touches besides the objects themselves, from the foreign keys of the schema. */
export async function dependentsOf(
  site: Site,
  model: TableModel,
  selection: Selection,
): Promise<Dependent[]> {
  const keys = await foreignKeysOf(site.database);
  const root = {
    table: model.table as string,
    rows: (column: string) => selectColumn(site, model, selection, column),
    level: 0,
  };
  const found: Dependent[] = [];
  const open = [root];
  for (let parent = open.shift(); parent; parent = open.shift()) {
    for (const key of keys.filter((each) => each.parent === parent.table)) {
      const referring = (column: string) => whereIn(site, key, column, parent.rows(key.parentColumn));
      const count = await countRows(site, referring(key.column));
      if (count === 0) continue;
      found.push({ ...named(site, key.table), count, effect: key.onDelete });
      const { level } = parent;
      if (key.onDelete === 'cascade' && level < levelsMax && key.table !== parent.table)
        open.push({ table: key.table, rows: referring, level: level + 1 });
    }
  }
  return found;
}

function named(site: Site, table: string): Pick<Dependent, 'label' | 'model'> {
  const model = site.models.find((each): each is TableModel => each.kind === 'table' && each.table === table);
  const words = table.replace(/^auth_/, '').replaceAll('_', ' ');
  return { label: model?.plural ?? `${words}s`, model };
}

/** A column of the selected objects, as a subquery. */
function selectColumn(site: Site, model: TableModel, selection: Selection, column: string): Rows {
  const keys = selectKeys(site, model, selection);
  if (column === columnOf(model, model.key)) return keys;
  return dynamic(site.database)
    .selectFrom(model.table)
    .select(`${model.table}.${column} as key`)
    .where(`${model.table}.${columnOf(model, model.key)}`, 'in', keys as never) as Rows;
}

function whereIn(site: Site, key: ForeignKey, column: string, parents: Rows): Rows {
  return dynamic(site.database)
    .selectFrom(key.table)
    .select(`${key.table}.${column} as key`)
    .where(`${key.table}.${key.column}`, 'in', parents as never) as Rows;
}

async function countRows(site: Site, rows: Rows): Promise<number> {
  const counted = dynamic(site.database)
    .selectFrom(rows.as('referring'))
    .select(sql<number>`count(*)`.as('total'));
  const [row] = await rowsOf(site.database, counted, true);
  return Number(row?.total ?? 0);
}

/** Deletes objects with what goes with them and writes their history; how many there were. Throws what hooks throw, and `conflict`. */
export function removeObjects(
  site: Site,
  model: TableModel,
  ids: readonly string[],
  actor: Actor,
): Promise<number> {
  return inSlices(ids, (slice) =>
    site.database.write(
      async (session) => {
        const entries = await entriesOf(session, model, { ids: slice, action: 'delete' });
        const present = entries.map(({ id }) => id);
        if (present.length === 0) return 0;
        await model.beforeDelete?.(session, present, actor);
        await dynamic(session).deleteFrom(model.table).where(keyCondition(model, present)).execute();
        await recordChanges(session, entries, { user: actor.user, nowMs: site.clock.now() });
        return present.length;
      },
      { alone: true },
    ),
  );
}

/** Runs a bulk action on objects and writes their history; how many there were. */
export function runAction(
  site: Site,
  model: TableModel,
  { action, ids }: { action: TableAction<AdminTables>; ids: readonly string[] },
  actor: Actor,
): Promise<number> {
  const set = typeof action.set === 'function' ? action.set(site.clock.now()) : action.set;
  return inSlices(ids, (slice) =>
    site.database.write(
      async (session) => {
        const entries = await entriesOf(session, model, { ids: slice, action: action.label, set });
        const present = entries.map(({ id }) => id);
        if (present.length === 0) return 0;
        if (set) {
          const row = Object.entries(set).map(([name, value]) => [columnOf(model, name), value]);
          await dynamic(session)
            .updateTable(model.table)
            .set(Object.fromEntries(row) as AnyTables[string])
            .where(keyCondition(model, present))
            .execute();
        }
        await action.run?.(session, present, actor);
        await recordChanges(session, entries, { user: actor.user, nowMs: site.clock.now() });
        return present.length;
      },
      { alone: true },
    ),
  );
}

/** What the history will say of each object that exists. */
async function entriesOf(
  session: Parameters<typeof dynamic>[0],
  model: TableModel,
  { ids, action, set = {} }: { ids: readonly string[]; action: string; set?: Values | undefined },
): Promise<Change[]> {
  const rows = await selectFields(dynamic(session), model).where(keyCondition(model, ids)).execute();
  return rows.map(toValues).map((values) => ({
    model: model.path,
    id: idOf(model, values),
    title: titleOf(model, values),
    action,
    fields: Object.entries(set).map(([name, value]) => ({
      label: model.fields[name]?.label ?? name,
      from: model.fields[name]?.format(values[name] as Value) ?? '',
      to: model.fields[name]?.format(value) ?? '',
    })),
  }));
}

async function inSlices(
  ids: readonly string[],
  work: (slice: readonly string[]) => Promise<number>,
): Promise<number> {
  let total = 0;
  for (let index = 0; index < ids.length; index += sliceRows)
    total += await work(ids.slice(index, index + sliceRows));
  return total;
}
