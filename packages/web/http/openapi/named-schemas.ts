import { isDeepStrictEqual } from 'node:util';

type Json = Record<string, unknown>;

/**
 * Moves every schema with a `title` out of the paths of a document, and returns both. What remains are references to
 * `#/components/schemas/TITLE`. Throws if two schemas that differ have one title.
 */
export function nameSchemas(paths: Json): { readonly paths: Json; readonly named: Json } {
  const named: Json = {};
  return { paths: inPlaces(paths, named) as Json, named };
}

/** Schemas are under the key `schema` of parameters and media types. */
function inPlaces(value: unknown, named: Json): unknown {
  if (Array.isArray(value)) return value.map((each) => inPlaces(each, named));
  if (typeof value !== 'object' || value === null) return value;
  return mapValues(value as Json, (each, key) => {
    if (key === 'schema') return reference(each as Json, named);
    // Examples are data, whatever their keys are.
    return key === 'example' || key === 'examples' ? each : inPlaces(each, named);
  });
}

function reference(schema: Json, named: Json): Json {
  const whole = mapValues(schema, (value, keyword) => inKeyword(keyword, value, named));
  const { title } = whole;
  if (typeof title !== 'string') return whole;
  const known = named[title] as Json | undefined;
  if (known && !isDeepStrictEqual(withoutExamples(known), withoutExamples(whole))) {
    throw new Error(`two different schemas have the title ${title}`);
  }
  named[title] = { ...known, ...whole };
  return { $ref: `#/components/schemas/${title}` };
}

/** `@fastify/swagger` moves the examples of some schemas to where they are used. */
function withoutExamples({ examples: _, ...schema }: Json): Json {
  return schema;
}

function inKeyword(keyword: string, value: unknown, named: Json): unknown {
  switch (keyword) {
    case 'properties':
    case 'patternProperties':
      return mapValues(value as Json, (each) => reference(each as Json, named));
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
      return (value as Json[]).map((each) => reference(each, named));
    case 'items':
    case 'additionalProperties':
      return typeof value === 'object' && value !== null ? reference(value as Json, named) : value;
    default:
      return value;
  }
}

function mapValues(given: Json, map: (value: unknown, key: string) => unknown): Json {
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, map(value, key)]));
}
