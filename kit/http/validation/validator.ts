import { createRequire } from 'node:module';
import type { Ajv, Options, ValidateFunction } from 'ajv';
import type { Fields } from '../../errors.ts';
import type { Static, TSchema } from '../../schema.ts';
import { fieldsOf, formats } from './fields.ts';

/** The part of JSON Schema by which parameters are parsed. */
export interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  /** What a larger whole number becomes, if it is a parameter. */
  readonly 'x-clamp'?: number;
}

/** A value that matches a schema, or every error by the name that the sender wrote. */
export type Validation<T> = { readonly value: T; readonly fields?: undefined } | { readonly fields: Fields };

/**
 * Compiles a schema to a function that validates a value in place. Nothing is coerced, all errors are reported, keys that the
 * schema does not name are removed, and defaults are filled in. `rootName` names the value itself in errors about the whole. The
 * first call compiles; it throws for a schema with an unknown keyword or format.
 */
export function compileValidator<S extends TSchema>(
  schema: S,
  rootName = '',
): (value: unknown) => Validation<Static<S>> {
  const properties = Object.keys((schema as JsonSchema).properties ?? {});
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= ajv().compile(withSafeIntegers(schema));
    if (validate(value)) return { value: value as Static<S> };
    return { fields: fieldsOf(validate.errors ?? [], rootName, properties) };
  };
}

const options: Options = {
  allErrors: true,
  // The schema that an error is about, for its message.
  verbose: true,
  useDefaults: true,
  removeAdditional: 'all',
  ownProperties: true,
  strictTypes: false,
  validateSchema: false,
  addUsedSchema: false,
  formats: Object.fromEntries(Object.entries(formats).map(([name, { validate }]) => [name, validate])),
  keywords: ['x-problem', 'x-clamp', 'example'],
};

const require = createRequire(import.meta.url);
let shared: Ajv | undefined;

/** One Ajv for all schemas, loaded when the first of them is compiled. */
function ajv(): Ajv {
  shared ??= new (require('ajv') as typeof import('ajv')).Ajv(options);
  return shared;
}

/** Limits whole numbers to what a double holds exactly, unless their schema has narrower limits. */
function withSafeIntegers(schema: TSchema): object {
  return JSON.parse(JSON.stringify(schema), (_key, value) =>
    value?.type === 'integer'
      ? { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...value }
      : value,
  );
}
