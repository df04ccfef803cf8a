import type { Fields } from '@octavo/core';
import type { PermissionAction } from '@octavo/people/accounts';
import type { Visit } from '@octavo/web/pages';
import type { Field, Value, Values } from '../field.ts';
import type { Model, TableModel } from '../model.ts';
import { idOf, type Registry } from '../registry.ts';
import type { ChildChange, ObjectChange } from '../table/save.ts';
import { childField, type Loaded, parseVersions, type Versions, versionsOf } from '../table/versions.ts';
import type { AdminUser } from '../user.ts';

/** State of a form: texts as typed, the members of sets, and rows of inline children. */
export interface FormState {
  readonly texts: Readonly<Record<string, string>>;
  readonly members: Readonly<Record<string, readonly string[]>>;
  readonly children: Readonly<Record<string, readonly ChildState[]>>;
  readonly errors: Fields;
  readonly versions: Versions;
}

/** One row of an inline. */
export interface ChildState {
  /** Prefix of the names of its controls. */
  readonly prefix: string;
  readonly id: string | undefined;
  readonly texts: Readonly<Record<string, string>>;
  readonly isDeleted: boolean;
}

/** The object that a form edits, or the new one that it creates. */
export interface FormContext {
  readonly registry: Registry;
  readonly model: Model;
  readonly user: AdminUser;
  /** Undefined for a new object. */
  readonly loaded: Loaded | undefined;
}

/** The most rows of an inline that a form may send. */
const childrenMax = 500;

/** The fields that the user may edit in this form. */
export function editableFields({ model, user, loaded }: FormContext): (readonly [string, Field])[] {
  return Object.entries(model.fields).filter(
    ([, field]) => !isReadOnly(field.readOnly, user) && !(field.onlyWhenAdding && loaded),
  );
}

/** The sets that the user may edit. */
export function editableSets({ model, user }: FormContext): string[] {
  if (model.kind !== 'table') return [];
  return Object.entries(model.sets ?? {})
    .filter(([, set]) => !isReadOnly(set.readOnly ?? false, user))
    .map(([name]) => name);
}

function isReadOnly(readOnly: boolean | ((user: AdminUser) => boolean), user: AdminUser): boolean {
  return typeof readOnly === 'function' ? readOnly(user) : readOnly;
}

/** The fields of the inline rows that a form can edit. */
function childFields(model: TableModel, fields: readonly string[], user: AdminUser): string[] {
  return fields.filter((name) => !isReadOnly((model.fields[name] as Field).readOnly, user));
}

/** A value as a control holds it: an instant in UTC without zone and without fractions of a second. */
export function controlText(field: Field, value: Value): string {
  const text = field.format(value);
  if (field.control.type !== 'datetime') return text;
  return text
    .replace(/\.\d+/, '')
    .replace(/(T\d\d:\d\d)(?::00)?Z$/, '$1')
    .replace(/Z$/, '');
}

/**
 * The form of an object before anything is typed. A new one takes values from the address, one that is there only objects that it
 * refers to.
 */
export function initialState(context: FormContext, given: URLSearchParams): FormState {
  const { registry, model, user, loaded } = context;
  const nowMs = registry.clock.now();
  const texts = Object.fromEntries(
    Object.entries(model.fields).map(([name, field]) => {
      const value = loaded ? (loaded.values[name] ?? null) : field.initial(nowMs);
      const isGiven = !loaded || (field.control.type === 'reference' && !isReadOnly(field.readOnly, user));
      return [name, (isGiven && given.get(name)) || controlText(field, value)];
    }),
  );
  const members = Object.fromEntries(
    editableSets(context).map((name) => [name, (loaded?.values[name] ?? []) as readonly string[]]),
  );
  const children = Object.fromEntries(
    registry.inlinesOf(model).map(({ inline, model: child }) => {
      const name = inlineName(inline.model);
      const rows = shownChildren(context, inline.model);
      const known = rows.map((row, index) => ({
        prefix: `${name}-${index}-`,
        id: idOf(child, row),
        texts: textsOf(child, row),
        isDeleted: false,
      }));
      const extra = mayEditChildren(user, inline.model, 'add') ? (inline.extra ?? 3) : 0;
      const added = Array.from({ length: extra }, (_, index) =>
        emptyChild(child, `${name}-${known.length + index}-`, nowMs),
      );
      return [inline.model, [...known, ...added].map((row) => withGiven(row, child, given))];
    }),
  );
  return { texts, members, children, errors: {}, versions: currentVersions(context) };
}

/** A row with the objects of the address that it refers to. */
function withGiven(row: ChildState, model: TableModel, given: URLSearchParams): ChildState {
  const texts = { ...row.texts };
  for (const [name, { control }] of Object.entries(model.fields))
    if (control.type === 'reference') texts[name] = given.get(`${row.prefix}${name}`) || (texts[name] ?? '');
  return { ...row, texts };
}

/** The versions of everything that the form shows. */
export function currentVersions(context: FormContext): Versions {
  const { registry, model, user, loaded } = context;
  if (!loaded) return new Map();
  return versionsOf(loaded, {
    fields: [...editableFields(context).map(([name]) => name), ...editableSets(context)],
    children: Object.fromEntries(
      registry
        .inlinesOf(model)
        .filter(({ inline }) => mayEditChildren(user, inline.model, 'view'))
        .map(({ inline, model: child, fields }) => [
          inline.model,
          { key: child.key, fields: childFields(child, fields, user) },
        ]),
    ),
  });
}

/** Returns true if a user may do something with inline children. */
export function mayEditChildren(user: AdminUser, model: string, action: PermissionAction): boolean {
  return user.permissions.may(model, action);
}

/** The inline children that the form of a user shows: who may only add some sees none of the others. */
function shownChildren({ user, loaded }: FormContext, path: string): readonly Values[] {
  return mayEditChildren(user, path, 'view') ? (loaded?.children[path] ?? []) : [];
}

/** Returns the prefix of the names of an inline's controls. */
export function inlineName(path: string): string {
  return path.split('/')[1] as string;
}

function textsOf(model: TableModel, values: Values): Record<string, string> {
  const entries = Object.entries(model.fields);
  return Object.fromEntries(entries.map(([name, field]) => [name, controlText(field, values[name] ?? null)]));
}

function emptyChild(model: TableModel, prefix: string, nowMs: number): ChildState {
  const entries = Object.entries(model.fields);
  const texts = entries.map(([name, field]) => [name, controlText(field, field.initial(nowMs))]);
  return { prefix, id: undefined, texts: Object.fromEntries(texts), isDeleted: false };
}

/** Reads a submitted form: its state to show again, and the change that it asks for if all fields are valid. */
export function readForm(
  context: FormContext,
  visit: Visit<never>,
): { state: FormState; change: Omit<ObjectChange, 'id'> } {
  const { loaded } = context;
  const errors: Record<string, string> = {};
  const initial = initialState(context, new URLSearchParams());
  const texts: Record<string, string> = { ...initial.texts };
  const values: Record<string, Value> = {};
  const versions = parseVersions(visit.field('_version'));
  const isShown = loaded ? shownBy(visit, versions) : () => true;
  for (const [name, field] of editableFields(context)) {
    if (!isShown({ control: name, version: name, isBox: field.control.type === 'flag' })) {
      values[name] = loaded?.values[name] ?? null;
      continue;
    }
    texts[name] = visit.field(name);
    const parsed = parseTyped(field, texts[name], loaded?.values[name]);
    if ('problem' in parsed) errors[name] = parsed.problem;
    else values[name] = parsed.value;
  }
  const members: Record<string, readonly string[]> = { ...initial.members };
  for (const name of editableSets(context)) {
    if (!isShown({ control: name, version: name, isBox: true })) continue;
    members[name] = [...new Set(visit.values(name))].sort();
    values[name] = members[name];
  }
  const { children, changes } = readChildren(context, visit, errors);
  return {
    state: { texts, members, children, errors, versions },
    change: { values, children: changes, versions: loaded && visit.field('_version') ? versions : undefined },
  };
}

interface ControlName {
  readonly control: string;
  /** Key among the versions. */
  readonly version: string;
  /** Browsers do not send a box that is not checked. */
  readonly isBox: boolean;
}

/**
 * Tells which controls the form of an object had. A form that an older replica served lacks those of new columns, whose values must
 * stay.
 */
function shownBy(visit: Visit<never>, versions: Versions): (name: ControlName) => boolean {
  const sent = visit.fields();
  return ({ control, version, isBox }) =>
    sent[control] !== undefined || (isBox && (versions.size === 0 || versions.has(version)));
}

/** A text that stands for the stored value keeps it, even where the value is finer than its text. */
function parseTyped(field: Field, typed: string, stored: Value | undefined) {
  if (stored !== undefined && typed === controlText(field, stored)) return { value: stored };
  return field.parse(typed);
}

function readChildren(
  context: FormContext,
  visit: Visit<never>,
  errors: Record<string, string>,
): { children: Record<string, ChildState[]>; changes: ChildChange[] } {
  const { registry, model, user } = context;
  const children: Record<string, ChildState[]> = {};
  const changes: ChildChange[] = [];
  const nowMs = registry.clock.now();
  const isShown = shownBy(visit, parseVersions(visit.field('_version')));
  for (const { inline, model: child, fields } of registry.inlinesOf(model)) {
    const known = new Map(shownChildren(context, inline.model).map((row) => [idOf(child, row), row]));
    const prefixes = prefixesIn(visit, inlineName(inline.model));
    children[inline.model] = prefixes.map((prefix) => {
      const id = visit.field(`${prefix}${child.key}`) || undefined;
      const stored = id === undefined ? undefined : known.get(id);
      const isDeleted = visit.field(`${prefix}DELETE`) !== '';
      const texts = { ...(stored ? textsOf(child, stored) : emptyChild(child, prefix, nowMs).texts) };
      const editable = childFields(child, fields, user).filter((name) => {
        const isBox = child.fields[name]?.control.type === 'flag';
        const version = childField(inline.model, stored?.[child.key], name);
        return !stored || isShown({ control: `${prefix}${name}`, version, isBox });
      });
      for (const name of editable) texts[name] = visit.field(`${prefix}${name}`);
      const state = { prefix, id, texts, isDeleted };
      if (isAllowed(user, inline.model, state) && !isBlank(child, editable, state, nowMs))
        changes.push(checkChild({ model: child, path: inline.model, editable, stored }, state, errors));
      return state;
    });
  }
  return { children, changes };
}

function isAllowed(user: AdminUser, path: string, { id, isDeleted }: ChildState): boolean {
  return mayEditChildren(user, path, isDeleted ? 'delete' : id === undefined ? 'add' : 'change');
}

/** `choice-0-`, `choice-1-`, … in order of their numbers. */
function prefixesIn(visit: Visit<never>, name: string): string[] {
  const pattern = new RegExp(`^${name}-(\\d{1,4})-`);
  const numbers = Object.keys(visit.fields()).flatMap((key) => {
    const match = pattern.exec(key);
    return match ? [Number(match[1])] : [];
  });
  return [...new Set(numbers)]
    .sort((a, b) => a - b)
    .slice(0, childrenMax)
    .map((number) => `${name}-${number}-`);
}

/** An added row in which nothing was typed. */
function isBlank(model: TableModel, editable: readonly string[], state: ChildState, nowMs: number): boolean {
  if (state.id !== undefined) return false;
  if (state.isDeleted) return true;
  return editable.every((name) => {
    const field = model.fields[name] as Field;
    const typed = (state.texts[name] ?? '').trim();
    if (typed === '' || field.control.type === 'datetime') return true;
    const parsed = field.parse(typed);
    return 'value' in parsed && parsed.value === field.initial(nowMs);
  });
}

function checkChild(
  context: { model: TableModel; path: string; editable: readonly string[]; stored: Values | undefined },
  { prefix, id, isDeleted, texts }: ChildState,
  errors: Record<string, string>,
): ChildChange {
  const { model, path, editable, stored } = context;
  const values: Record<string, Value> = {};
  for (const name of isDeleted ? [] : editable) {
    const parsed = parseTyped(model.fields[name] as Field, texts[name] ?? '', stored?.[name]);
    if ('problem' in parsed) errors[`${prefix}${name}`] = parsed.problem;
    else values[name] = parsed.value;
  }
  return { model: path, prefix, id, isDeleted, values };
}
