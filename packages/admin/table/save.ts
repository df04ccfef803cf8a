import { AppError, type Fields } from '@octavo/core';
import type { WriteSession } from '@octavo/data';
import { describeChanges } from '../changes/changes.ts';
import {
  type AdminTables,
  type Change,
  type FieldChange,
  isSame,
  recordChanges,
} from '../changes/history.ts';
import type { Value, Values } from '../field.ts';
import type { TableModel } from '../model.ts';
import { columnOf, idOf, type Registry, titleOf } from '../registry.ts';
import type { Actor } from '../user.ts';
import { loadObject } from './load.ts';
import { type AnyTables, dynamic, keyCondition } from './query.ts';
import { childField, hashOf, type Loaded, type Versions } from './versions.ts';

/** A row of an inline, as it was submitted. */
export interface ChildChange {
  /** The path of its model. */
  readonly model: string;
  /** Prefix of its form fields: `choice-0-`. */
  readonly prefix: string;
  /** Undefined for a new one. */
  readonly id: string | undefined;
  readonly isDeleted: boolean;
  /** The fields that the form has. */
  readonly values: Values;
}

/** A form that was checked: only the fields and sets that its user may edit. */
export interface ObjectChange {
  /** Undefined for a new object. */
  readonly id: string | undefined;
  readonly values: Values;
  readonly children: readonly ChildChange[];
  /** Columns from the model's `prepare`. */
  readonly prepared?: Readonly<Record<string, unknown>> | undefined;
  /** Values when the form was loaded; without them, changes of others are overwritten. */
  readonly versions?: Versions | undefined;
}

export type SaveOutcome =
  | { readonly kind: 'saved'; readonly id: string; readonly title: string; readonly isChanged: boolean }
  | { readonly kind: 'changed meanwhile'; readonly current: Loaded }
  | { readonly kind: 'gone' };

/** The session and who acts, for one transaction. */
export interface Writing {
  readonly registry: Registry;
  readonly session: WriteSession<AdminTables>;
  readonly actor: Actor;
  readonly nowMs: number;
}

/**
 * Saves an object with its sets and children, and writes its history, in one transaction. Throws `AppError` with `fields` named as
 * in the form.
 */
export async function saveObject(
  registry: Registry,
  model: TableModel,
  change: ObjectChange,
  actor: Actor,
): Promise<SaveOutcome> {
  const prepared = await model.prepare?.(change.values, change.id);
  return registry.database.write((session) =>
    saveInside({ registry, session, actor, nowMs: registry.clock.now() }, model, { ...change, prepared }),
  );
}

/** Saves inside a transaction. */
export async function saveInside(
  writing: Writing,
  model: TableModel,
  change: ObjectChange,
): Promise<SaveOutcome> {
  const { registry, session } = writing;
  const before =
    change.id === undefined
      ? undefined
      : await loadObject(registry, model, change.id, { session, forUpdate: true });
  if (change.id !== undefined && !before) return { kind: 'gone' };
  if (before && wasChangedMeanwhile(writing, model, before, change))
    return { kind: 'changed meanwhile', current: before };
  const { id, after, fields } = await saveRow(writing, model, { ...change, before: before?.values });
  const childChanges = await saveChildren(writing, model, { change, before, parent: after });
  const all = [...fields, ...childChanges];
  const title = titleOf(model, after);
  const isChanged = !before || all.length > 0;
  if (isChanged) {
    const action = before ? 'change' : 'add';
    await record(writing, { model: model.path, id, title, action, fields: all });
  }
  return { kind: 'saved', id, title, isChanged };
}

/** Writes one entry of the history. */
export function record({ session, actor, nowMs }: Writing, change: Change): Promise<void> {
  return recordChanges(session, [change], { user: actor.user, nowMs, via: 'admin' });
}

/**
 * Returns true if the change would overwrite what others did since its form was loaded, or leaves out a child that they added
 * and that its user would have edited. Fields and children that the user may not edit are never overwritten, so they do not
 * count.
 */
function wasChangedMeanwhile(
  { registry, actor }: Writing,
  model: TableModel,
  before: Loaded,
  { versions, values, children }: ObjectChange,
): boolean {
  if (!versions) return false;
  const isOverwritten = Object.entries(values).some(
    ([name, value]) =>
      versions.get(name) !== hashOf(before.values[name] ?? null) &&
      !isSame(before.values[name] ?? null, value ?? null),
  );
  if (isOverwritten) return true;
  return registry.inlinesOf(model).some(({ inline, model: child, fields }) => {
    const mayChange = actor.user.permissions.may(inline.model, 'change');
    const submitted = new Map(
      children.filter((each) => each.model === inline.model).map((each) => [each.id, each]),
    );
    const current = before.children[inline.model] ?? [];
    const ids = new Set(current.map((row) => idOf(child, row)));
    const isGone = [...submitted.values()].some(
      ({ id, isDeleted }) => id !== undefined && !isDeleted && !ids.has(id),
    );
    const isOther = current.some((row) => {
      const id = idOf(child, row);
      const typed = submitted.get(id);
      if (typed) return isChildOverwritten(row, typed, versions);
      return mayChange && !fields.some((name) => versions.has(childField(inline.model, id, name)));
    });
    return isGone || isOther;
  });
}

function isChildOverwritten(row: Values, { model, id, isDeleted, values }: ChildChange, versions: Versions) {
  const changed = (name: string) => {
    const version = versions.get(childField(model, id, name));
    return version !== hashOf(row[name] ?? null) && (!isDeleted || version !== undefined);
  };
  if (isDeleted) return Object.keys(row).some(changed);
  return Object.entries(values).some(([name, value]) => changed(name) && !isSame(row[name], value));
}

interface RowChange {
  readonly id: string | undefined;
  readonly values: Values;
  readonly before: Values | undefined;
  readonly prepared?: ObjectChange['prepared'];
}

/** Inserts or updates one row with its sets and hooks. */
async function saveRow(
  { registry, session, actor }: Writing,
  model: TableModel,
  { id, values, before, prepared }: RowChange,
): Promise<{ id: string; after: Values; fields: FieldChange[] }> {
  try {
    const merged = { ...before, ...values };
    const extra = await model.beforeSave?.(session, { id, before, after: merged }, actor);
    const changed = Object.entries(values).filter(([name, value]) => !before || !isSame(before[name], value));
    const row = Object.fromEntries([
      ...Object.entries(prepared ?? {}),
      ...changed
        .filter(([name]) => model.fields[name] && !model.fields[name].isSecret)
        .map(([name, value]) => [columnOf(model, name), value]),
      ...Object.entries(extra ?? {}),
    ]) as AnyTables[string];
    const savedId = id === undefined ? await insert(session, model, row) : id;
    if (id !== undefined) await update(session, model, id, row);
    for (const [name, set] of Object.entries(model.sets ?? {}))
      if (changed.some(([each]) => each === name))
        await set.save(session, savedId, values[name] as readonly string[]);
    const after: Values = { ...merged, [model.key]: before?.[model.key] ?? keyOf(model, savedId) };
    await model.afterSave?.(session, { id: savedId, before, after }, actor);
    return {
      id: savedId,
      after,
      fields: await describeChanges(
        { session, tableAt: (path) => registry.tableAt(path) },
        model,
        changed.map(([name]) => name),
        { before, after },
      ),
    };
  } catch (error) {
    throw describeConflict(model, error);
  }
}

async function insert(
  session: WriteSession<AdminTables>,
  model: TableModel,
  row: AnyTables[string],
): Promise<string> {
  const key = columnOf(model, model.key);
  const inserted = await dynamic(session)
    .insertInto(model.table)
    .values(row)
    .returning(key)
    .executeTakeFirstOrThrow();
  return String(inserted[key]);
}

async function update(
  session: WriteSession<AdminTables>,
  model: TableModel,
  id: string,
  row: AnyTables[string],
): Promise<void> {
  if (Object.keys(row).length === 0) return;
  await dynamic(session)
    .updateTable(model.table)
    .set(row)
    .where(keyCondition(model, [id]))
    .execute();
}

/** Deletions and flags that are taken away come first, so that a constraint such as "only one" never meets a state in between. */
async function saveChildren(
  writing: Writing,
  model: TableModel,
  { change, before, parent }: { change: ObjectChange; before: Loaded | undefined; parent: Values },
): Promise<FieldChange[]> {
  const { registry } = writing;
  const changes: FieldChange[] = [];
  for (const { inline, model: child } of registry.inlinesOf(model)) {
    const rows = new Map((before?.children[inline.model] ?? []).map((row) => [idOf(child, row), row]));
    const submitted = change.children
      .filter((each) => each.model === inline.model)
      .map((each) => ({ ...each, before: each.id === undefined ? undefined : rows.get(each.id) }))
      .sort((a, b) => rankOf(child, a) - rankOf(child, b));
    for (const each of submitted) {
      const values = { ...each.values, [inline.parent]: parent[model.key] as Value };
      changes.push(...(await prefixed(each.prefix, () => saveChild(writing, child, { ...each, values }))));
    }
  }
  return changes;
}

type KnownChild = ChildChange & { readonly before: Values | undefined };

function rankOf(child: TableModel, { isDeleted, id, values, before }: KnownChild): number {
  if (isDeleted) return 0;
  const takesAway = Object.entries(values).some(
    ([name, value]) => child.fields[name]?.control.type === 'flag' && before?.[name] === 1 && value === 0,
  );
  if (takesAway) return 1;
  return id === undefined ? 3 : 2;
}

async function saveChild(writing: Writing, child: TableModel, change: KnownChild): Promise<FieldChange[]> {
  const { session, actor } = writing;
  const { id, before, isDeleted, values } = change;
  const name = `${child.label} “${titleOf(child, before ?? values)}”`;
  if (!isDeleted) {
    // A row deleted by another user is added again, so that typed text is not lost.
    if (id !== undefined && !before && !actor.user.permissions.may(child.path, 'add'))
      throw new AppError('forbidden', `You do not have permission to add ${child.plural}.`);
    const saved = await saveRow(writing, child, { id: before && id, values, before });
    const labelled = saved.fields.map((field) => ({ ...field, label: `${name}: ${field.label}` }));
    return before ? labelled : [{ label: name, to: 'added' }];
  }
  if (!before || id === undefined) return [];
  await child.beforeDelete?.(session, [id], actor);
  await dynamic(session)
    .deleteFrom(child.table)
    .where(keyCondition(child, [id]))
    .execute();
  return [{ label: name, to: 'deleted' }];
}

async function prefixed<T>(prefix: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const entries = Object.entries(error.fields).map(([name, message]) => [`${prefix}${name}`, message]);
    throw new AppError(error.code, error.message, {
      fields: Object.fromEntries(entries) as Fields,
      cause: error,
    });
  }
}

/** A broken constraint in the words of the model. */
export function describeConflict(model: TableModel, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'conflict') return error;
  const columns = Object.keys(error.fields);
  const own = columns.map((column) => model.uniqueErrors?.[column]).find((each) => each !== undefined);
  if (own)
    return new AppError('conflict', own.message, { fields: { [own.field]: own.message }, cause: error });
  const fields = Object.entries(model.fields).filter(([name]) => columns.includes(columnOf(model, name)));
  const taken = Object.fromEntries(fields.map(([name]) => [name, 'is already taken']));
  if (fields.length > 0 || columns.length > 0)
    return new AppError('conflict', error.message, {
      fields: taken,
      reason: error.reason ?? '',
      cause: error,
    });
  return error;
}

function keyOf(model: TableModel, id: string): Value {
  return model.keyIsText ? id : Number(id);
}
