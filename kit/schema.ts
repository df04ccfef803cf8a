import type * as TypeBox from 'typebox';

export type { Static, TSchema } from 'typebox';

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
  | 'Unknown';
