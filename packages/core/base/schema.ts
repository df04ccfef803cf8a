import type * as TypeBox from 'typebox';
import type { Static, TOptional, TSchema } from 'typebox';

export type { Static, TObject, TProperties, TSchema } from 'typebox';

type Schema = Readonly<Record<string, unknown>>;

/**
 * TypeBox's builders of JSON Schema, as far as we use them. The types are TypeBox's own. Only the few lines that create the
 * objects are ours, because importing the library loads all its 373 modules: 100 ms and 21 MB in each process and thread
 * (decision 019).
 */
export const Type = {
  Array: (items: Schema, options?: Schema) => ({ type: 'array', items, ...options }),
  Boolean: (options?: Schema) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly unknown[], options?: Schema) => ({ enum: [...values], ...options }),
  Integer: (options?: Schema) => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: Schema) => ({ type: typeof value, const: value, ...options }),
  Null: (options?: Schema) => ({ type: 'null', ...options }),
  Number: (options?: Schema) => ({ type: 'number', ...options }),
  Object(properties: Readonly<Record<string, Schema>>, options?: Schema) {
    const required = Object.keys(properties).filter((key) => !properties[key]?.['~optional']);
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
  },
  /** Marked like TypeBox does: not enumerable, so that it is not in the JSON of the schema. */
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, '~optional', { value: true }),
  Record: (_key: Schema, values: Schema) => ({ type: 'object', patternProperties: { '^.*$': values } }),
  String: (options?: Schema) => ({ type: 'string', ...options }),
  Union: (anyOf: readonly Schema[], options?: Schema) => ({ anyOf: [...anyOf], ...options }),
  Unknown: (options?: Schema) => ({ ...options }),
  /** A schema with a type that it does not imply. */
  Unsafe: (schema: Schema) => ({ ...schema }),
} as unknown as Pick<typeof TypeBox.Type, Builder>;

type Builder =
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe';

/**
 * The fields of an entity that people edit, as JSON Schema, declared once: the API, the admin and the types are made from them. Beside its
 * keywords (`maxLength`, `description`, …), a field has a `label` for forms, and a choice has `labels`. A field with a default is
 * `Type.Optional`. A field that may be empty is a union with `Type.Null`, or a text with a `minLength` of 0.
 */
export type EntityFields = Readonly<Record<string, TSchema>>;

/** The type of an entity as it is stored: with its id, and with 1 and 0 for booleans. */
export type Entity<F extends EntityFields> = { readonly id: number } & {
  readonly [K in keyof F]: Stored<Static<F[K]>>;
};

type Stored<T> = boolean extends T ? Exclude<T, boolean> | number : T;

/** A field with its label. */
export function field<S extends TSchema>(label: string, schema: S): S {
  return { ...schema, label };
}

/** A choice of names, with a label for each. */
export function labelled<const T extends Readonly<Record<string, string>>>(
  labels: T,
  options: Readonly<Record<string, unknown>>,
) {
  return Type.Enum(Object.keys(labels) as (keyof T & string)[], { labels, ...options });
}

/** The parts of a field's schema. */
export interface FieldParts {
  /** The name of the field in forms. */
  readonly label: string;
  /** Labels of a choice by its names. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly hasDefault: boolean;
  readonly isNullable: boolean;
  /** The schema without these, of the value that is not null. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Takes the schema of a field apart. */
export function partsOf(name: string, field: TSchema): FieldParts {
  const hasDefault = '~optional' in field;
  const {
    label = name,
    labels,
    anyOf,
    ...rest
  } = field as TSchema & Partial<Omit<FieldParts, 'schema'>> & Union;
  const inner = anyOf?.find(({ type }) => type !== 'null');
  return { label, labels, hasDefault, isNullable: inner !== undefined, schema: { ...inner, ...rest } };
}

/** The label of each field. */
export function labelsOf<F extends EntityFields>(fields: F): Readonly<Record<keyof F & string, string>> {
  const labels = Object.entries(fields).map(([name, each]) => [name, partsOf(name, each).label]);
  return Object.fromEntries(labels);
}

/** The fields of a change, any of which may be left out. */
export function allOptional<F extends EntityFields>(fields: F): { [K in keyof F]: TOptional<F[K]> } {
  const optional = Object.entries(fields).map(([name, each]) => [name, Type.Optional(each)]);
  return Object.fromEntries(optional);
}

/** The fields as an API describes them. */
export function withoutLabels<F extends EntityFields>(fields: F): F {
  const plain = Object.entries(fields).map(([name, field]) => {
    const { label: _label, labels: _labels, ...schema } = field as TSchema & Partial<FieldParts>;
    // The mark of an optional field is not copied with it.
    return [name, '~optional' in field ? Type.Optional(schema) : schema];
  });
  return Object.fromEntries(plain);
}

interface Union {
  readonly anyOf?: readonly (TSchema & { readonly type?: string })[];
}
