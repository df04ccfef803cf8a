import { deleteRows, type ForeignKey, foreignKeysOf, type Session, type WriteSession } from '@octavo/data';
import { type SqlBool, sql } from 'kysely';
import { describeChanges } from '../changes/changes.ts';
import type { AdminTables } from '../changes/history.ts';
import { type Change, isSame, recordChanges } from '../changes/history.ts';
import type { Values } from '../field.ts';
import type { TableAction, TableModel } from '../model.ts';
import { columnOf, idOf, type Registry, titleOf } from '../registry.ts';
import type { Actor } from '../user.ts';
import { type Selection, selectKeys } from './list.ts';
import { type AnyTables, dynamic, keyCondition, type Rows, rowsOf, selectFields, toValues } from './query.ts';

/** Rows of a table that a deletion touches. */
export interface Dependent {
  /** Nouns such as `vote` and `votes`; undefined for rows that readers do not know, such as those of an index. */
  readonly words: readonly [singular: string, plural: string] | undefined;
  /** The model of the table, if it has one. */
  readonly model: TableModel | undefined;
  readonly count: number;
  /** Deleted as well, kept without the reference, or in the way. */
  readonly effect: ForeignKey['onDelete'];
}

/** Rows changed or deleted in one transaction. */
const sliceRows = 500;
/** Depth to which cascades are followed. */
const levelsMax = 5;

/** Returns the objects that a deletion affects besides the selected ones, from the foreign keys of the schema. */
export async function dependentsOf(
  registry: Registry,
  model: TableModel,
  selection: Selection,
): Promise<Dependent[]> {
  const keys = await foreignKeysOf(registry.database);
  const root = {
    table: model.table as string,
    rows: (column: string) => selectColumn(registry, model, selection, column),
    level: 0,
  };
  const found: Dependent[] = [];
  const open = [root];
  for (let parent = open.shift(); parent; parent = open.shift()) {
    for (const key of keys.filter((each) => each.parent === parent.table)) {
      const [column, parentColumn] = [key.columns[0] as string, key.parentColumns[0] as string];
      const referring = (name: string) =>
        inSelection(registry, { key, column }, name, parent.rows(parentColumn));
      const count = await countRows(registry, referring(column));
      if (count === 0) continue;
      found.push({ ...named(registry, key.table), count, effect: key.onDelete });
      const { level } = parent;
      if (key.onDelete === 'cascade' && level < levelsMax && key.table !== parent.table)
        open.push({ table: key.table, rows: referring, level: level + 1 });
    }
  }
  return found;
}

function named(registry: Registry, table: string): Pick<Dependent, 'words' | 'model'> {
  const model = registry.models.find(
    (each): each is TableModel => each.kind === 'table' && each.table === table,
  );
  return { words: registry.wordsOf(table), model };
}

/** A column of the selected objects, as a subquery. */
function selectColumn(registry: Registry, model: TableModel, selection: Selection, column: string): Rows {
  const keys = selectKeys(registry, model, selection);
  if (column === columnOf(model, model.key)) return keys;
  return dynamic(registry.database)
    .selectFrom(model.table)
    .select(`${model.table}.${column} as key`)
    .where(sql<SqlBool>`${sql.ref(`${model.table}.${columnOf(model, model.key)}`)} in ${keys}`) as Rows;
}

function inSelection(
  registry: Registry,
  { key, column: referring }: { key: ForeignKey; column: string },
  column: string,
  parents: Rows,
): Rows {
  return dynamic(registry.database)
    .selectFrom(key.table)
    .select(`${key.table}.${column} as key`)
    .where(sql<SqlBool>`${sql.ref(`${key.table}.${referring}`)} in ${parents}`) as Rows;
}

async function countRows(registry: Registry, rows: Rows): Promise<number> {
  const counted = dynamic(registry.database)
    .selectFrom(rows.as('referring'))
    .select(sql<number>`count(*)`.as('total'));
  const [row] = await rowsOf(registry.database, counted, true);
  return Number(row?.total ?? 0);
}

/** Deletes objects with what goes with them and writes their history; how many there were. Throws what hooks throw, and `conflict`. */
export function removeObjects(
  registry: Registry,
  model: TableModel,
  ids: readonly string[],
  actor: Actor,
): Promise<number> {
  return inSlices(ids, async (slice) => {
    const found = await valuesOf(registry.database, model, slice);
    // Keys that are texts are given by people, who may give one again.
    const keys = model.keyIsText ? [] : found.map((values) => Number(idOf(model, values)));
    const doomed = { table: model.table, column: columnOf(model, model.key), keys };
    return deleteRows(registry.database, doomed, async (session) => {
      const rows = await valuesOf(session, model, slice);
      const entries = rows.map((values) => entryOf(model, values, 'delete'));
      const present = entries.map(({ id }) => id);
      if (present.length === 0) return 0;
      await model.beforeDelete?.(session, present, actor);
      await dynamic(session).deleteFrom(model.table).where(keyCondition(model, present)).execute();
      await recordChanges(session, entries, { user: actor.user, nowMs: registry.clock.now(), via: 'admin' });
      return present.length;
    });
  });
}

/** Runs a bulk action on objects and writes their history; how many there were. */
export function runAction(
  registry: Registry,
  model: TableModel,
  { action, ids }: { action: TableAction<AdminTables>; ids: readonly string[] },
  actor: Actor,
): Promise<number> {
  const set = typeof action.set === 'function' ? action.set(registry.clock.now()) : action.set;
  return inSlices(ids, (slice) =>
    registry.database.write(
      async (session) => {
        const before = await valuesOf(session, model, slice);
        const present = before.map((values) => idOf(model, values));
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
        const entries = await actionEntries({ registry, session, model }, before, action.label);
        await recordChanges(session, entries, {
          user: actor.user,
          nowMs: registry.clock.now(),
          via: 'admin',
        });
        return present.length;
      },
      { alone: true },
    ),
  );
}

/** The fields of the objects that exist. */
async function valuesOf(
  session: Session<AdminTables>,
  model: TableModel,
  ids: readonly string[],
): Promise<Values[]> {
  const rows = await selectFields(dynamic(session), model).where(keyCondition(model, ids)).execute();
  return rows.map(toValues);
}

function entryOf(model: TableModel, values: Values, action: string): Change {
  return { model: model.path, id: idOf(model, values), title: titleOf(model, values), action, fields: [] };
}

/** The history entries of an action that has run, with the fields that it changed; of an object that it deleted, without fields. */
async function actionEntries(
  { registry, session, model }: { registry: Registry; session: WriteSession<AdminTables>; model: TableModel },
  before: readonly Values[],
  action: string,
): Promise<Change[]> {
  const ids = before.map((values) => idOf(model, values));
  const rows = await valuesOf(session, model, ids);
  const afterById = new Map(rows.map((values) => [idOf(model, values), values]));
  const described = { session, tableAt: (path: string) => registry.tableAt(path) };
  const entries: Change[] = [];
  for (const values of before) {
    const entry = entryOf(model, values, action);
    const after = afterById.get(entry.id) ?? values;
    const names = Object.keys(model.fields).filter((name) => !isSame(values[name], after[name]));
    entries.push({
      ...entry,
      fields: await describeChanges(described, model, names, { before: values, after }),
    });
  }
  return entries;
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
