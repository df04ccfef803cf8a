import type { Clock } from '@octavo/core';
import { notFound } from '@octavo/core';
import type { Database } from '@octavo/data';
import type { AdminTables } from './changes/history.ts';
import type { Field, Values } from './field.ts';
import type { Column, Inline, Model, TableModel } from './model.ts';

/** Names of rows by table, in the singular or also in the plural; `null` for internals. */
export type TableWords = Readonly<
  Record<string, string | readonly [singular: string, plural: string] | null>
>;

/** The tables of packages that refer to its models. */
const kitTables: TableWords = { auth_session: 'session', auth_membership: null, auth_group_permission: null };

/** The models of an admin with what they need, checked. */
export class Registry {
  readonly title: string;
  readonly models: readonly Model[];
  readonly clock: Clock;
  /** The database of the service. */
  readonly database: Database<AdminTables>;
  readonly #tables: TableWords;
  readonly #byPath: ReadonlyMap<string, Model>;

  constructor(options: {
    title: string;
    models: readonly Model[];
    clock: Clock;
    database: Database<AdminTables>;
    tables?: TableWords | undefined;
  }) {
    this.title = options.title;
    this.models = options.models;
    this.clock = options.clock;
    this.database = options.database;
    this.#tables = { ...kitTables, ...options.tables };
    this.#byPath = new Map(options.models.map((model) => [model.path, model]));
    for (const model of options.models) this.#check(model);
  }

  /** The model at a path. Throws `not_found`. */
  model(path: string): Model {
    const model = this.#byPath.get(path);
    if (!model) throw notFound('the page', `/admin/${path}/`);
    return model;
  }

  /** The model at a path, if it is on a table of this service. */
  tableAt(path: string): TableModel | undefined {
    const model = this.#byPath.get(path);
    return model?.kind === 'table' ? model : undefined;
  }

  /** The models of inline children with their declaration. */
  inlinesOf(model: Model): readonly { inline: Inline; model: TableModel; fields: readonly string[] }[] {
    const inlines = model.kind === 'table' ? (model.inlines ?? []) : [];
    return inlines.map((inline) => {
      const child = this.tableAt(inline.model) as TableModel;
      const fields = inline.fields ?? Object.keys(child.fields).filter((name) => name !== inline.parent);
      return { inline, model: child, fields };
    });
  }

  /** Name of a table's rows, in the singular and the plural; undefined for rows that readers do not know. */
  wordsOf(table: string): readonly [singular: string, plural: string] | undefined {
    const model = this.models.find((each) => each.kind === 'table' && each.table === table);
    if (model) return [model.label, model.plural];
    const words = this.#tables[table];
    if (words === null) return undefined;
    if (words === undefined) return [`row of ${table}`, `rows of ${table}`];
    return typeof words === 'string' ? [words, `${words}s`] : words;
  }

  /** A misspelled name in a declaration is found at start. */
  #check(model: Model): void {
    const known = (name: string) => name === model.key || model.fields[name] !== undefined;
    const columns = model.columns.filter((column): column is Column => typeof column !== 'string');
    const named = [
      model.title,
      ...(model.search ?? []),
      ...(model.dates ? [model.dates] : []),
      ...model.columns.filter((column): column is string => typeof column === 'string'),
      ...(model.sections ?? []).flatMap(({ fields }) => fields),
      ...(model.filters ?? []).filter((filter): filter is string => typeof filter === 'string'),
    ];
    const sorted = [
      ...(model.order ?? []).map((name) => name.replace(/^-/, '')),
      ...columns.flatMap(({ sortBy }) => (sortBy ? [sortBy] : [])),
    ].filter((name) => !columns.some((column) => column.name === name));
    const sets = model.kind === 'table' ? Object.keys(model.sets ?? {}) : [];
    const wrong = [...named, ...sorted].find((name) => !known(name) && !sets.includes(name));
    if (wrong !== undefined) throw new Error(`${model.path} has no field ${wrong}`);
    for (const { control } of Object.values(model.fields))
      if (control.type === 'reference' && !this.tableAt(control.model))
        throw new Error(`${model.path} refers to ${control.model}, which is no model on a table`);
    for (const { inline } of this.inlinesOf(model))
      if (!this.tableAt(inline.model)?.fields[inline.parent])
        throw new Error(`${inline.model} has no field ${inline.parent}`);
  }
}

/** The column of a field. */
export function columnOf(model: Model, name: string): string {
  return model.fields[name]?.column ?? name;
}

/** The id of an object, as in its address. */
export function idOf(model: Model, values: Values): string {
  return String(values[model.key]);
}

/** Returns the title of an object, at most 120 characters. */
export function titleOf(model: Model, values: Values): string {
  const value = values[model.title];
  const title = value === null || value === undefined || value === '' ? idOf(model, values) : String(value);
  const characters = [...title];
  return characters.length > 120 ? `${characters.slice(0, 119).join('')}…` : title;
}

/** The fields that are kept in columns and may be shown. */
export function storedFields(model: Model): (readonly [string, Field])[] {
  return Object.entries(model.fields).filter(([, field]) => !field.isSecret && !field.onlyWhenAdding);
}

/** The columns of an export and of an import: the key, then the fields. */
export function fileColumns(model: Model): string[] {
  return [...new Set([model.key, ...storedFields(model).map(([name]) => name)])];
}

/** Returns true if a file can hold every required field of the model. */
export function canImport(model: Model): model is TableModel {
  return model.kind === 'table' && !model.prepare;
}
