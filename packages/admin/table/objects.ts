import { AppError, notFound } from '@octavo/core';
import { describeChanges } from '../changes/changes.ts';
import { type AdminTables, isSame, recordChanges } from '../changes/history.ts';
import type { Choice, Values } from '../field.ts';
import type { FunctionModel, ListPage, ListQuery, Model, TableAction } from '../model.ts';
import { idOf, type Registry, titleOf } from '../registry.ts';
import type { Actor } from '../user.ts';
import { type Dependent, dependentsOf, removeObjects, runAction } from './delete.ts';
import { countTable, findChoices, idsOf, listTable, type Selection, streamTable } from './list.ts';
import { loadObject } from './load.ts';
import { type ObjectChange, type SaveOutcome, saveObject } from './save.ts';
import { hashOf, type Loaded } from './versions.ts';

/** Most objects of one bulk action. */
export const bulkMax = 100_000;

/** One page of a list. */
export function listObjects(
  registry: Registry,
  model: Model,
  query: ListQuery,
  actor: Actor,
): Promise<ListPage> {
  return model.kind === 'table' ? listTable(registry, model, query) : model.list(query, actor);
}

/** Number of a model's objects; with `isCapped`, there are more. It costs the same however many there are. */
export async function countObjects(
  registry: Registry,
  model: Model,
  actor: Actor,
): Promise<Pick<ListPage, 'total' | 'isCapped'>> {
  if (model.kind === 'table') return countTable(registry, model);
  return model.list({ words: [], filters: [], sort: [], offset: 0, limit: 1 }, actor);
}

/** Some objects that match every word, at most `limit`, by key and title. */
export async function findObjects(
  registry: Registry,
  model: Model,
  { words, limit }: Pick<ListQuery, 'words' | 'limit'>,
  actor: Actor,
): Promise<readonly Choice[]> {
  if (model.kind === 'table') return findChoices(registry, model, words, limit);
  if (words.length === 0 || !model.search) return [];
  const { rows } = await model.list({ words, filters: [], sort: [], offset: 0, limit }, actor);
  return rows.map((values) => [idOf(model, values), titleOf(model, values)]);
}

/** An object with its inline children. Throws `not_found`. */
export async function getObject(registry: Registry, model: Model, id: string, actor: Actor): Promise<Loaded> {
  const loaded = await findObject(registry, model, id, actor);
  if (!loaded) throw notFound(model.label, id);
  return loaded;
}

/** An object with its inline children; undefined if there is none. */
export async function findObject(
  registry: Registry,
  model: Model,
  id: string,
  actor: Actor,
): Promise<Loaded | undefined> {
  if (model.kind === 'table') return loadObject(registry, model, id, { session: registry.database });
  const values = await model.get(id, actor);
  return values && { values, children: {} };
}

/** Saves a form. See `saveObject`. */
export function saveChange(
  registry: Registry,
  model: Model,
  change: ObjectChange,
  actor: Actor,
): Promise<SaveOutcome> {
  if (model.kind === 'table') return saveObject(registry, model, change, actor);
  return change.id === undefined
    ? createByFunction(registry, model, change.values, actor)
    : updateByFunction({ registry, model, actor }, change.id, change);
}

interface Calling {
  readonly registry: Registry;
  readonly model: FunctionModel;
  readonly actor: Actor;
}

async function createByFunction(
  registry: Registry,
  model: FunctionModel,
  values: Values,
  actor: Actor,
): Promise<SaveOutcome> {
  if (!model.create) throw new AppError('forbidden', `A ${model.label} cannot be added here.`);
  const id = await model.create(values, actor);
  const title = titleOf(model, { ...values, [model.key]: id });
  await recordCall(
    { registry, model, actor },
    { id, title, action: 'add', before: undefined, after: values },
  );
  return { kind: 'saved', id, title, isChanged: true };
}

async function updateByFunction(
  calling: Calling,
  id: string,
  { values, versions }: ObjectChange,
): Promise<SaveOutcome> {
  const { model, actor } = calling;
  if (!model.update) throw new AppError('forbidden', `A ${model.label} cannot be changed here.`);
  const before = await model.get(id, actor);
  if (!before) return { kind: 'gone' };
  const changed = Object.entries(values).filter(([name, value]) => !isSame(before[name] ?? null, value));
  const isOther = changed.some(([name]) => versions && versions.get(name) !== hashOf(before[name] ?? null));
  if (isOther) return { kind: 'changed meanwhile', current: { values: before, children: {} } };
  const after = { ...before, ...values };
  if (changed.length > 0) {
    await model.update(id, after, { ...actor, before });
    await recordCall(calling, {
      id,
      title: titleOf(model, after),
      action: 'change',
      before,
      after: Object.fromEntries(changed),
    });
  }
  return { kind: 'saved', id, title: titleOf(model, after), isChanged: changed.length > 0 };
}

/** Records in the history what another service did. */
async function recordCall(
  { registry, model, actor }: Calling,
  call: { id: string; title: string; action: string; before: Values | undefined; after: Values },
): Promise<void> {
  const names = Object.keys(call.after).filter((name) => model.fields[name] !== undefined);
  const described = { session: registry.database, tableAt: (path: string) => registry.tableAt(path) };
  const fields = await describeChanges(described, model, names, call);
  const { id, title, action } = call;
  const change = { model: model.path, id, title, action, fields };
  await recordChanges(registry.database, [change], {
    user: actor.user,
    nowMs: registry.clock.now(),
    via: 'admin',
  });
}

/** Returns the objects that are deleted together with a selection. */
export async function dependents(
  registry: Registry,
  model: Model,
  selection: Selection,
): Promise<Dependent[]> {
  return model.kind === 'table' ? dependentsOf(registry, model, selection) : [];
}

/** The ids of a selection, at most {@link bulkMax}. For a model on functions, it is read page by page. */
export async function selectedIds(
  registry: Registry,
  model: Model,
  selection: Selection,
  actor: Actor,
): Promise<string[]> {
  if (model.kind === 'table') return idsOf(registry, model, selection, bulkMax);
  if ('ids' in selection) return [...selection.ids];
  const ids: string[] = [];
  for await (const rows of pagesOf(model, { ...selection.query, sort: [] }, actor)) {
    ids.push(...rows.map((row) => idOf(model, row)));
    if (ids.length >= bulkMax) break;
  }
  return ids.slice(0, bulkMax);
}

/** Every row of a list in batches. */
export function streamObjects(
  registry: Registry,
  model: Model,
  query: Pick<ListQuery, 'words' | 'filters' | 'sort'>,
  actor: Actor,
): AsyncIterable<readonly Values[]> {
  return model.kind === 'table' ? streamTable(registry, model, query) : pagesOf(model, query, actor);
}

const pageRows = 100;

async function* pagesOf(
  model: FunctionModel,
  query: Pick<ListQuery, 'words' | 'filters' | 'sort'>,
  actor: Actor,
): AsyncGenerator<readonly Values[]> {
  for (let offset = 0; ; offset += pageRows) {
    const { rows } = await model.list({ ...query, offset, limit: pageRows }, actor);
    if (rows.length > 0) yield rows;
    if (rows.length < pageRows) return;
  }
}

/** Deletes objects; how many there were. */
export async function deleteObjects(
  registry: Registry,
  model: Model,
  ids: readonly string[],
  actor: Actor,
): Promise<number> {
  if (model.kind === 'table') return removeObjects(registry, model, ids, actor);
  let count = 0;
  for (const id of ids) {
    const values = await model.get(id, actor);
    if (!values) continue;
    await model.delete?.(id, actor);
    await recordCall(
      { registry, model, actor },
      { id, title: titleOf(model, values), action: 'delete', before: undefined, after: {} },
    );
    count++;
  }
  return count;
}

/** Runs one of the model's bulk actions; how many objects there were. */
export async function actOn(
  registry: Registry,
  model: Model,
  { name, ids }: { name: string; ids: readonly string[] },
  actor: Actor,
): Promise<number> {
  if (model.kind === 'table') {
    const action = model.actions?.[name] as TableAction<AdminTables>;
    return runAction(registry, model, { action, ids }, actor);
  }
  const action = model.actions?.[name];
  for (const id of ids) {
    await action?.run(id, actor);
    const call = { id, title: id, action: action?.label ?? name, before: undefined, after: {} };
    await recordCall({ registry, model, actor }, call);
  }
  return ids.length;
}
