import type { WriteSession } from '@octavo/data';
import type { PermissionAction } from '@octavo/people/accounts';
import type { Content, IconName } from '@octavo/web/html';
import type { Expression, SqlBool } from 'kysely';
import type { AdminTables } from './changes/history.ts';
import type { Choice, Field, Value, Values } from './field.ts';
import type { Actor, AdminUser } from './user.ts';

/** A column of a list that is not simply a field. */
export interface Column {
  readonly label: string;
  /** Renders a row; gets the fields, the key, and the value of `expression` under `name`. */
  show(values: Values): Content;
  /** Computed by the database and selected as `name`. */
  readonly name?: string;
  readonly expression?: Expression<unknown>;
  /** The field or expression by which a click on the header sorts. */
  readonly sortBy?: string;
  readonly kind?: 'main' | 'number' | 'fit';
}

/** A filter that is not simply a field. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  readonly choices: readonly Choice[];
  /** The condition of a choice, on the table of the model. */
  where(value: string): Expression<SqlBool>;
}

/** Action on many objects at once. */
export interface BulkAction {
  readonly label: string;
  /** The permission that it needs; `change` by default. */
  readonly needs?: PermissionAction;
  /** Asks first, on a page that names the objects. */
  readonly confirms?: boolean;
  readonly isDangerous?: boolean;
}

/** A bulk action on a table: sets fields, or runs in the transaction that also writes the history. */
export interface TableAction<DB> extends BulkAction {
  /** Fields to set on each object, or a function that returns them when the action runs. */
  readonly set?: Values | ((nowMs: number) => Values);
  /** Runs instead, for at most 500 objects at a time. */
  run?(session: WriteSession<DB>, ids: readonly string[], actor: Actor): Promise<void>;
}

/** A form on one object besides the one that changes it. */
export interface ObjectForm {
  readonly label: string;
  /** Hint above the fields, such as other changes by the form. */
  readonly help?: string;
  /** The permission that it needs; `change` by default. */
  readonly needs?: PermissionAction;
  readonly fields: Readonly<Record<string, Field>>;
  /** Text for the history; without it, the form writes its own. */
  readonly recordedAs?: string;
  /** Returns the message for the user. Throws `AppError` to refuse the change. */
  submit(id: string, values: Values, actor: Actor): Promise<string>;
}

/** Options of models of both kinds. */
export interface ModelOptions {
  /** `app/model`, as in the address and in permissions: `library/book`. */
  readonly path: string;
  /** Label in the singular and lower case: `book`. */
  readonly label: string;
  /** `books`; the label with an `s` by default. */
  readonly plural?: string;
  /** One sentence above the list. */
  readonly description?: string;
  /** Its icon in the menu. */
  readonly icon?: IconName;
  /** Objects that wait for staff, which the overview begins with: the noun for one and for more, and the query of the list that has them. */
  readonly waiting?: { readonly nouns: readonly [string, string]; readonly query: string };
  /** Fields in the order of the form. */
  readonly fields: Readonly<Record<string, Field>>;
  /** The field that names an object. */
  readonly title: string;
  /** The field that identifies an object; `id` by default. It need not be among the fields. */
  readonly key?: string;
  /** Groups of fields with a heading; fields that are in none come first. */
  readonly sections?: readonly { readonly title: string; readonly fields: readonly string[] }[];
  /** Columns of the list; the first links to the object. */
  readonly columns: readonly (string | Column)[];
  /** Fields in which every word of a search must be found. */
  readonly search?: readonly string[];
  /** The field with an instant by which the list is narrowed to years, months and days. */
  readonly dates?: string;
  /** The default order of the list: `-pub_date` is descending. The key decides between equals. */
  readonly order?: readonly string[];
  /** Actions that the model allows; all by default. */
  readonly can?: Partial<Readonly<Record<'add' | 'change' | 'delete', boolean>>>;
  /** Further forms on an object, by the last part of their address, such as one that sets a password. */
  readonly forms?: Readonly<Record<string, ObjectForm>>;
  /** Links shown with an object, such as to its page on the site. `read` loads an object that it refers to. */
  links?(values: Values, read: ReadObject): readonly ObjectLink[] | Promise<readonly ObjectLink[]>;
}

export interface ObjectLink {
  readonly href: string;
  readonly label: string;
}

/** Reads an object by the path of its model and its key; undefined if there is none. */
export type ReadObject = (path: string, id: Value) => Promise<Values | undefined>;

/** Objects that belong to one of another model and are edited with it. */
export interface Inline {
  /** The path of their model. */
  readonly model: string;
  /** Field of the children that refers to the parent. */
  readonly parent: string;
  /** The fields in the row of each; all but `parent` by default. */
  readonly fields?: readonly string[];
  /** Empty rows to fill in; 3 by default. */
  readonly extra?: number;
}

/** A saved object of a table, for hooks. */
export interface Saved {
  readonly id: string;
  /** Values before it was saved; undefined if it was added. */
  readonly before: Values | undefined;
  readonly after: Values;
}

/** A set that an object has, such as the groups of a user: members of another table, kept in a table between them or elsewhere. */
export interface Membership<DB> {
  readonly label: string;
  readonly help?: Content;
  readonly readOnly?: boolean | ((user: AdminUser) => boolean);
  choices(session: SessionOf<DB>): Promise<readonly Choice[]>;
  /** Shows the choices as a table: the value of a cell is `row:column`. */
  readonly grid?: { readonly rows: readonly Choice[]; readonly columns: readonly Choice[] };
  load(session: SessionOf<DB>, id: string): Promise<readonly string[]>;
  save(session: WriteSession<DB>, id: string, members: readonly string[]): Promise<void>;
}

type SessionOf<DB> = Pick<WriteSession<DB>, 'kysely' | 'dialect' | 'runner'>;

/** A model whose objects are the rows of a table. */
export interface TableModelOptions<DB> extends ModelOptions {
  readonly table: keyof DB & string;
  /** True if keys are texts; otherwise they are whole numbers. */
  readonly keyIsText?: boolean;
  readonly filters?: readonly (string | Filter)[];
  readonly inlines?: readonly Inline[];
  readonly sets?: Readonly<Record<string, Membership<DB>>>;
  readonly actions?: Readonly<Record<string, TableAction<DB>>>;
  /** Searches in its own way, such as by an index; the condition on the table. */
  searchBy?(words: readonly string[]): Expression<SqlBool>;
  /**
   * Called before the transaction, for work that takes time, such as hashing. Returns columns to write unless the form has them too.
   * Throws `AppError` to refuse it.
   */
  prepare?(values: Values, id: string | undefined): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Called in the transaction before an object is saved. Returns columns to write besides the fields. Throws `AppError` with `fields`
   * to refuse it; it may change nothing but through the session.
   */
  beforeSave?(
    session: WriteSession<DB>,
    saved: Omit<Saved, 'id'> & { readonly id: string | undefined },
    actor: Actor,
  ): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Called in the transaction after an object was saved. */
  afterSave?(session: WriteSession<DB>, saved: Saved, actor: Actor): Promise<void>;
  /** Called in the transaction before objects are deleted. Throws `AppError` to refuse it. */
  beforeDelete?(session: WriteSession<DB>, ids: readonly string[], actor: Actor): Promise<void>;
  /** Message and field to show when a unique constraint on a column is violated. */
  readonly uniqueErrors?: Readonly<Record<string, { readonly field: string; readonly message: string }>>;
}

/** Selects the objects to list. */
export interface ListQuery {
  /** Words to search for, all of them. */
  readonly words: readonly string[];
  readonly filters: readonly ListFilter[];
  readonly sort: readonly { readonly name: string; readonly isDescending: boolean }[];
  readonly offset: number;
  readonly limit: number;
}

/** A field that must have a value, or lie from `from` (inclusive) to `until` (exclusive). */
export interface ListFilter {
  readonly name: string;
  readonly equals?: Value;
  readonly from?: Value;
  readonly until?: Value;
}

/** A page of a list. */
export interface ListPage {
  readonly rows: readonly Values[];
  /** Number of matches; with `isCapped`, there are more. */
  readonly total: number;
  readonly isCapped: boolean;
}

/** A model whose objects are read and written by functions, such as those of another service. */
export interface FunctionModelOptions extends ModelOptions {
  /** The fields by which {@link FunctionModelOptions.list} can sort and filter. */
  readonly sortable?: readonly string[];
  readonly filters?: readonly string[];
  list(query: ListQuery, actor: Actor): Promise<ListPage>;
  get(id: string, actor: Actor): Promise<Values | undefined>;
  /** The id of the new object. Throws `AppError`, with `fields` for those that are wrong. */
  create?(values: Values, actor: Actor): Promise<string>;
  /** `before` is the object as it was when the form was checked; `values` has all fields. */
  update?(id: string, values: Values, context: Actor & { readonly before: Values }): Promise<void>;
  delete?(id: string, actor: Actor): Promise<void>;
  readonly actions?: Readonly<Record<string, BulkAction & { run(id: string, actor: Actor): Promise<void> }>>;
}

/** A model as the admin holds it. Make it with {@link tableModel} or {@link functionModel}. */
export type Model = TableModel | FunctionModel;
export type TableModel = { readonly kind: 'table' } & TableModelOptions<AdminTables> & Names;
export type FunctionModel = { readonly kind: 'functions' } & FunctionModelOptions & Names;

interface Names {
  readonly plural: string;
  readonly key: string;
}

/** Declares a model on a table of the service. */
export function tableModel<DB>(options: TableModelOptions<DB>): Model {
  return { kind: 'table', ...named(options) } as unknown as Model;
}

/** Declares a model on functions. */
export function functionModel(options: FunctionModelOptions): Model {
  return { kind: 'functions', ...named(options) };
}

function named<T extends ModelOptions>(options: T): T & Names {
  if (!/^[a-z][a-z0-9_]*\/[a-z][a-z0-9_]*$/.test(options.path))
    throw new Error(`${options.path} is no app/model`);
  return { ...options, plural: options.plural ?? `${options.label}s`, key: options.key ?? 'id' };
}
