import type { Fields } from '@octavo/core';
import {
  attributes,
  type Content,
  card,
  checkbox,
  checkboxes,
  field as fieldBlock,
  type Html,
  html,
} from '@octavo/web/html';
import type { AdminTables } from '../changes/history.ts';
import { capitalized } from '../context.ts';
import type { Choice, Field } from '../field.ts';
import type { Inline, Membership, Model, TableModel } from '../model.ts';
import type { Registry } from '../registry.ts';
import { choicesOf, referencedTitles } from '../table/list.ts';
import {
  type ChildState,
  editableFields,
  editableSets,
  type FormContext,
  type FormState,
  mayEditChildren,
} from './form.ts';
import { withAddLink } from './related.ts';

/** Options of a form's controls: objects to refer to and members of sets. */
export interface Menus {
  /** Choices by the path of a model; undefined if there are too many. */
  readonly objects: ReadonlyMap<string, readonly Choice[] | undefined>;
  readonly sets: Readonly<Record<string, readonly Choice[]>>;
  /** Titles of the objects that the object refers to now, by field and key. */
  readonly titles: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** Links beside references that add an object: the models that the user may add to, and the form to come back to. */
export interface AddLinks {
  /** Labels by path. */
  readonly models: ReadonlyMap<string, string>;
  readonly back: string;
}

/** Reads the choices of a form from the database. */
export async function loadMenus(
  { registry, model, user, loaded }: FormContext,
  state: FormState,
): Promise<Menus> {
  const models: Model[] = [model, ...registry.inlinesOf(model).map(({ model: child }) => child)];
  const parents = new Set(registry.inlinesOf(model).map(({ inline }) => `${inline.model}.${inline.parent}`));
  const objects = new Map<string, readonly Choice[] | undefined>();
  for (const each of models)
    for (const [name, { control }] of Object.entries(each.fields)) {
      if (control.type !== 'reference' || parents.has(`${each.path}.${name}`)) continue;
      if (!objects.has(control.model)) objects.set(control.model, await menuOf(registry, control.model));
    }
  const sets: Record<string, readonly Choice[]> = {};
  if (model.kind === 'table')
    for (const [name, set] of Object.entries(model.sets ?? {}))
      sets[name] = await set.choices(registry.database);
  const titles =
    model.kind === 'table'
      ? await referencedTitles(registry, model, [
          viewableReferences({ model, user }, state),
          ...(loaded ? [loaded.values] : []),
        ])
      : new Map();
  return { objects, sets, titles };
}

/** Keys of a form that refer to objects whose titles the user may see. */
function viewableReferences({ model, user }: Pick<FormContext, 'model' | 'user'>, { texts }: FormState) {
  const entries = Object.entries(texts).filter(([name, key]) => {
    const control = model.fields[name]?.control;
    return key !== '' && control?.type === 'reference' && user.permissions.may(control.model, 'view');
  });
  return Object.fromEntries(entries);
}

async function menuOf(registry: Registry, path: string): Promise<readonly Choice[] | undefined> {
  return choicesOf(registry, registry.tableAt(path) as TableModel);
}

/** The label of every control of a form, by its name, for the summary of errors. */
export function labelsOf({ registry, model }: FormContext, state: FormState): Record<string, string> {
  const labels = Object.fromEntries(Object.entries(model.fields).map(([name, { label }]) => [name, label]));
  if (model.kind === 'table')
    for (const [name, { label }] of Object.entries(model.sets ?? {})) labels[name] = label;
  for (const { inline, model: child } of registry.inlinesOf(model))
    for (const [index, { prefix }] of (state.children[inline.model] ?? []).entries())
      for (const [name, { label }] of Object.entries(child.fields))
        labels[`${prefix}${name}`] = `${capitalized(child.label)} ${index + 1}: ${label}`;
  return labels;
}

/** The fields of a form, in sections, and its inline children. Without `isEditable`, everything is text. */
export function formFields(
  context: FormContext,
  state: FormState,
  { menus, isEditable, add }: { menus: Menus; isEditable: boolean; add: AddLinks },
): Html {
  const { model, loaded } = context;
  const editable = new Set(isEditable ? editableFields(context).map(([name]) => name) : []);
  const sets = model.kind === 'table' ? (model.sets ?? {}) : {};
  const editableSet = new Set(isEditable ? editableSets(context) : []);
  const one = (name: string): Content => {
    const set = sets[name];
    if (set) return setControl({ name, set, isEditable: editableSet.has(name) }, state, menus);
    const field = model.fields[name] as Field;
    if (field.onlyWhenAdding && loaded) return undefined;
    if (editable.has(name)) return control({ name, field, label: field.label }, state, { menus, add });
    return loaded ? readOnlyField(field, showValue(model, name, { context, menus })) : undefined;
  };
  const sectioned = new Set((model.sections ?? []).flatMap(({ fields }) => fields));
  const first = [...Object.keys(model.fields), ...Object.keys(sets)].filter((name) => !sectioned.has(name));
  const groups = [{ title: undefined, fields: first }, ...(model.sections ?? [])];
  return html`${groups.map(({ title, fields }) => {
    const contents = fields.map(one).filter((content) => content !== undefined);
    return contents.length > 0 && card(title, html`<div class="form">${contents}</div>`);
  })}${inlines(context, state, { menus, isEditable, add })}`;
}

/** A field that is shown but not edited. */
function readOnlyField(field: Field, content: Content): Html {
  return html`<div class="field"><span class="label">${field.label}</span><div class="value">${content}</div></div>`;
}

function showValue(
  model: Model,
  name: string,
  { context, menus }: { context: FormContext; menus: Menus },
): Content {
  const field = model.fields[name] as Field;
  const value = context.loaded?.values[name] ?? null;
  if (field.control.type === 'reference') {
    if (value === null) return '—';
    const title = menus.titles.get(name)?.get(String(value)) ?? String(value);
    return html`<a href="/admin/${field.control.model}/${encodeURIComponent(String(value))}/change/">${title}</a>`;
  }
  const shown = field.show ? field.show(value) : field.format(value);
  return shown === '' ? '—' : shown;
}

function setControl(
  { name, set, isEditable }: { name: string; set: Membership<AdminTables>; isEditable: boolean },
  state: FormState,
  menus: Menus,
): Html {
  const choices = menus.sets[name] ?? [];
  const checked = state.members[name] ?? [];
  const { label } = set;
  if (set.grid) return matrix(name, set, { checked, isEditable });
  if (isEditable && choices.length > 0) {
    const error = state.errors[name];
    return checkboxes({
      name,
      label,
      choices,
      checked,
      error,
      ...(set.help !== undefined && { help: set.help }),
    });
  }
  const shown = choices.filter(([value]) => checked.includes(value)).map(([, text]) => text);
  return html`<div class="field"><span class="label">${label}</span><div class="value">${shown.join(', ') || '—'}</div></div>`;
}

/** A set as a table of checkboxes. */
function matrix(
  name: string,
  { label, help, grid }: Membership<AdminTables>,
  { checked, isEditable }: { checked: readonly string[]; isEditable: boolean },
): Html {
  const { rows = [], columns = [] } = grid ?? {};
  const cell = (row: Choice, column: Choice) => {
    const value = `${row[0]}:${column[0]}`;
    const state = { checked: checked.includes(value), disabled: !isEditable };
    return html`<td><input type="checkbox" name="${name}" value="${value}" aria-label="${column[1]}: ${row[1]}"${attributes(state)}></td>`;
  };
  return html`<fieldset class="field checks" id="field-${name}"><legend>${label}</legend><table class="matrix">
<thead><tr><td></td>${columns.map(([, text]) => html`<th scope="col">${text}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr><th scope="row">${row[1]}</th>${columns.map((column) => cell(row, column))}</tr>`)}</tbody></table>
${help !== undefined && html`<p class="help"><span>${help}</span></p>`}</fieldset>`;
}

/** The control of one field, under the name that it has in the form. */
function control(
  { name, field, label }: { name: string; field: Field; label: string },
  { texts, errors }: { texts: Readonly<Record<string, string>>; errors: Fields },
  { menus, add }: { menus: Menus; add?: AddLinks },
): Html {
  const value = texts[name] ?? '';
  const error = errors[name];
  const help = field.help;
  const shared = { name, label, value, error, ...(help !== undefined && { help }) };
  const required = { required: field.isRequired || undefined };
  const { control: kind } = field;
  if (kind.type === 'flag')
    return checkbox({
      name,
      label,
      error,
      checked: /^(true|1|on)$/i.test(value),
      ...(help !== undefined && { help }),
    });
  if (kind.type === 'datetime')
    return fieldBlock({
      ...shared,
      type: 'datetime-local',
      attributes: { ...required, step: 'any', class: 'medium' },
    });
  if (kind.type === 'choice')
    return fieldBlock({
      ...shared,
      type: 'select',
      choices: withEmpty(kind.choices, field, value),
      attributes: { class: 'medium' },
    });
  if (kind.type === 'reference') {
    const chosen = referenceControl({ field, path: kind.model, shared }, menus);
    const addLabel = add?.models.get(kind.model);
    if (!add || addLabel === undefined) return chosen;
    return withAddLink(chosen, { path: kind.model, label: addLabel, field: name, back: add.back });
  }
  const type = kind.type;
  const count =
    kind.charactersMax !== undefined && kind.charactersMax <= 10_000 ? { countMax: kind.charactersMax } : {};
  const autocomplete = type === 'password' ? 'new-password' : 'off';
  return fieldBlock({
    ...shared,
    type: type === 'number' ? 'text' : type,
    ...count,
    attributes: {
      ...required,
      autocomplete,
      ...(type === 'number' && { inputmode: 'numeric', class: 'short' }),
    },
  });
}

/** The control of a field outside of the form of an object. */
export function fieldControl(
  field: { name: string; field: Field; label: string },
  state: { texts: Readonly<Record<string, string>>; errors: Fields },
): Html {
  return control(field, state, { menus: { objects: new Map(), sets: {}, titles: new Map() } });
}

function referenceControl(
  {
    field,
    path,
    shared,
  }: {
    field: Field;
    path: string;
    shared: { name: string; label: string; value: string; error: string | undefined };
  },
  menus: Menus,
): Html {
  const choices = menus.objects.get(path);
  if (choices)
    return fieldBlock({
      ...shared,
      type: 'select',
      choices: withEmpty(choices, field, shared.value),
      attributes: { class: 'medium' },
    });
  const title = menus.titles.get(shared.name)?.get(shared.value);
  const help = html`<span data-chosen>ID${title && html` of “${title}”`}.</span> <a href="/admin/${path}/" target="_blank" rel="noopener">Look it up</a>`;
  return fieldBlock({
    ...shared,
    help,
    attributes: {
      inputmode: 'numeric',
      autocomplete: 'off',
      class: 'medium',
      required: field.isRequired || undefined,
      'data-choices': `/admin/${path}/choices/`,
    },
  });
}

/** An empty choice first where one may, or must still, be chosen. A value that is no longer a choice is kept as one. */
function withEmpty(choices: readonly Choice[], field: Field, value: string): readonly Choice[] {
  const isKnown = choices.some(([choice]) => choice === value);
  const current: Choice[] = isKnown || value === '' ? [] : [[value, value]];
  const empty: Choice[] = !field.isRequired || value === '' ? [['', '—']] : [];
  return [...empty, ...choices, ...current];
}

/** The tables of inline children. */
function inlines(
  context: FormContext,
  state: FormState,
  { menus, isEditable, add }: { menus: Menus; isEditable: boolean; add: AddLinks },
): Content {
  const { registry, model, user } = context;
  return registry.inlinesOf(model).map(({ inline, model: child, fields }) => {
    if (!user.permissions.may(inline.model, 'view') && !mayEditChildren(user, inline.model, 'add'))
      return undefined;
    const rows = state.children[inline.model] ?? [];
    const names = fields.filter((name) => !(child.fields[name] as Field).onlyWhenAdding);
    const may = {
      add: isEditable && mayEditChildren(user, inline.model, 'add'),
      change: isEditable && mayEditChildren(user, inline.model, 'change'),
      delete: isEditable && mayEditChildren(user, inline.model, 'delete'),
    };
    return inlineTable({ inline, child, names, rows, may }, context, { errors: state.errors, menus, add });
  });
}

interface InlineView {
  readonly inline: Inline;
  readonly child: TableModel;
  readonly names: readonly string[];
  readonly rows: readonly ChildState[];
  readonly may: Readonly<Record<'add' | 'change' | 'delete', boolean>>;
}

function inlineTable(
  { inline, child, names, rows, may }: InlineView,
  context: FormContext,
  { errors, menus, add }: { errors: Fields; menus: Menus; add: AddLinks },
): Html {
  const title = capitalized(child.plural);
  if (rows.length === 0) return card(title, html`<p class="muted">There are none.</p>`);
  const heads = names.map((name) => html`<th scope="col">${child.fields[name]?.label}</th>`);
  const labelOf = (index: number) => `${capitalized(child.label)} ${index + 1}`;
  return html`<section class="card" data-inline="${inline.model}"><h2>${title}</h2>
<table class="table cards inlines"><caption class="hidden">${title}</caption>
<thead><tr>${heads}${may.delete && html`<th scope="col">Delete</th>`}</tr></thead>
<tbody>${rows.map(
    (row, index) => html`<tr${attributes({ 'data-added': row.id === undefined })}>${names.map(
      (name, column) =>
        html`<td>${column === 0 && row.id !== undefined && html`<input type="hidden" name="${row.prefix}${child.key}" value="${row.id}">`}${childCell({ child, name, row, label: labelOf(index) }, context, { errors, menus, add, may })}</td>`,
    )}${may.delete && html`<td class="fit">${row.id !== undefined && deleteBox(row, labelOf(index))}</td>`}</tr>
`,
  )}</tbody></table></section>`;
}

function deleteBox({ prefix, isDeleted }: ChildState, label: string): Html {
  return checkbox({
    name: `${prefix}DELETE`,
    label: html`<span class="hidden">${label}: </span><span class="phone">Delete</span>`,
    checked: isDeleted,
  });
}

function childCell(
  { child, name, row, label }: { child: TableModel; name: string; row: ChildState; label: string },
  context: FormContext,
  { errors, menus, add, may }: { errors: Fields; menus: Menus; add: AddLinks; may: InlineView['may'] },
): Content {
  const field = child.fields[name] as Field;
  const editable = row.id === undefined ? may.add : may.change;
  const isReadOnly = typeof field.readOnly === 'function' ? field.readOnly(context.user) : field.readOnly;
  if (!editable || isReadOnly) {
    const stored = context.loaded?.children[child.path]?.find((each) => String(each[child.key]) === row.id)?.[
      name
    ];
    if (stored === undefined) return undefined;
    return html`<div class="value">${field.show?.(stored) ?? field.format(stored)}</div>`;
  }
  const full = `${row.prefix}${name}`;
  const compact = withoutHelp(field, row.id === undefined);
  return control(
    { name: full, field: compact, label: `${label}: ${field.label}` },
    { texts: { [full]: row.texts[name] ?? '' }, errors },
    { menus, add },
  );
}

/** A row has no room for help, and browsers must not demand what an empty row lacks. */
function withoutHelp(field: Field, isAdded: boolean): Field {
  const { help: _, ...rest } = field;
  const { control: kind } = rest;
  const plain = 'charactersMax' in kind ? { type: kind.type } : kind;
  return { ...rest, control: plain as Field['control'], isRequired: rest.isRequired && !isAdded };
}
