import { createRequire } from 'node:module';
import type { Fields, Static, TSchema } from '@octavo/core';
import type { Ajv, KeywordDefinition, Options, ValidateFunction } from 'ajv';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import { textIfInexact } from '../requests/number-texts.ts';
import { fieldsOf, formats } from './fields.ts';

/** The part of JSON Schema by which parameters are parsed. */
export interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  /** Value that replaces a larger whole number, for parameters. */
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
  keywords: ['x-problem', 'x-clamp', 'example', 'label', 'labels'],
};

/** `x-exact`: a number that JavaScript cannot hold becomes its text, where the body keeps texts of numbers. */
const exact: KeywordDefinition = {
  keyword: 'x-exact',
  modifying: true,
  errors: false,
  validate(_isExact: boolean, value: unknown, _schema?: unknown, place?: DataValidationCxt): boolean {
    const { parentData, parentDataProperty: name } = place ?? {};
    if (typeof value === 'number' && parentData && name !== undefined)
      parentData[name] = textIfInexact(parentData, String(name), value);
    return true;
  },
};

const require = createRequire(import.meta.url);
let shared: Ajv | undefined;

/** One Ajv for all schemas, loaded when the first of them is compiled. */
function ajv(): Ajv {
  shared ??= new (require('ajv') as typeof import('ajv')).Ajv(options).addKeyword(exact);
  return shared;
}

/** Limits whole numbers to those that a double holds exactly, unless their schema has narrower limits. */
function withSafeIntegers(schema: TSchema): object {
  return JSON.parse(JSON.stringify(schema), (_key, value) =>
    value?.type === 'integer'
      ? { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...value }
      : value,
  );
}
