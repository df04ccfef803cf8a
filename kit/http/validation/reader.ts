import type { Fields } from '../../errors.ts';
import type { Static, TSchema } from '../../schema.ts';
import { arrayReader } from './arrays.ts';
import { numberReader } from './numbers.ts';
import { objectReader } from './objects.ts';
import { Problems } from './problems.ts';
import { type JsonSchema, type Read, refuseUnknownKeywords } from './schema.ts';
import { stringReader } from './strings.ts';
import { anyOfReader, constReader, enumReader } from './unions.ts';

/** What a value came to: itself without unknown keys, or every problem by the name that its sender wrote. */
export type Reading<T> = { readonly value: T; readonly fields?: undefined } | { readonly fields: Fields };

/**
 * Compiles a schema (JSON Schema 2020-12, the part that TypeBox writes) to a function that reads a value by it:
 * nothing is coerced, all problems are found, keys that the schema does not name are dropped, defaults are filled
 * in. `rootName` names the value itself where it is at fault as a whole. Throws for a schema that uses a keyword or
 * format that is not known here, so that nothing goes unchecked in silence.
 *
 * TypeBox has a compiler of its own, but it counts the length of text in grapheme clusters, where JSON Schema and
 * our contracts count code points.
 */
export function compileReader<S extends TSchema>(
  schema: S,
  rootName = '',
): (value: unknown) => Reading<Static<S>> {
  const read = compile(schema as JsonSchema);
  return (given) => {
    const problems = new Problems(rootName);
    const value = read(given, problems);
    return problems.fields ? { fields: problems.fields } : { value: value as Static<S> };
  };
}

function compile(schema: JsonSchema): Read {
  refuseUnknownKeywords(schema);
  if (schema.const !== undefined) return constReader(schema.const);
  if (schema.enum) return enumReader(schema.enum);
  if (schema.anyOf) return anyOfReader(schema.anyOf, compile);
  switch (schema.type) {
    case 'string':
      return stringReader(schema);
    case 'integer':
    case 'number':
      return numberReader(schema);
    case 'boolean':
      return (value, problems) =>
        typeof value === 'boolean' ? value : problems.add('must be true or false');
    case 'null':
      return (value, problems) => (value === null ? value : problems.add('must be null'));
    case 'array':
      return arrayReader(schema, compile);
    case 'object':
      return objectReader(schema, compile);
    case undefined:
      return (value) => value;
  }
  throw new Error(`schema type ${schema.type} is not known here`);
}
