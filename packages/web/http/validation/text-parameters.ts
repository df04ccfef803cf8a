import { parse as parseQueryText } from 'node:querystring';
import type { TSchema } from '@octavo/core';
import { compileValidator, type JsonSchema, type Validation } from './validator.ts';

type Texts = Readonly<Record<string, unknown>>;

/** Replaces a value whose percent-encoding is not UTF-8. */
const undecodable = Object.freeze({});

/** The parameters of a query by name, decoded; a list if one is repeated (WHATWG URL section 5.1). */
export function parseQuery(query: string): Record<string, unknown> {
  return query === '' ? {} : parseQueryText(query, '&', '=', parsing);
}

const parsing = { maxKeys: 0, decodeURIComponent: decode as typeof decodeURIComponent };

function decode(text: string): unknown {
  try {
    return decodeURIComponent(text);
  } catch {
    return undecodable;
  }
}

/**
 * Compiles the schema of query or path parameters, or of form fields: an object of texts. Each is parsed by its declared type:
 * whole numbers `-?\d+`, numbers, `true` and `false`. A text that cannot be parsed is an error like any other. So is a repeated
 * parameter, unless it is declared as an array; then a single one also becomes an array.
 */
export function compileTextValidator(schema: TSchema): (texts: Texts) => Validation<unknown> {
  const validate = compileValidator(schema, 'parameters');
  const properties = Object.entries((schema as JsonSchema).properties ?? {});
  return (texts) => {
    const parsed: Record<string, unknown> = {};
    let unreadable: Record<string, string> | undefined;
    for (const [name, property] of properties) {
      const given = texts[name];
      if (given === undefined) continue;
      const problem = problemOf(given, property);
      if (problem !== undefined) {
        unreadable ??= {};
        unreadable[name] = problem;
      } else if (property.type === 'array') {
        parsed[name] = asList(given).map((text) => parse(text, property.items ?? {}));
      } else {
        parsed[name] = parse(given, property);
      }
    }
    const validation = validate(parsed);
    return unreadable ? { fields: { ...validation.fields, ...unreadable } } : validation;
  };
}

/** Reason why a parameter cannot be parsed at all. */
function problemOf(given: unknown, { type }: JsonSchema): string | undefined {
  if (typeof given === 'string') return undefined;
  if (asList(given).includes(undecodable)) return 'must be percent-encoded UTF-8';
  return Array.isArray(given) && type !== 'array' ? 'must be given only once' : undefined;
}

function asList(given: unknown): unknown[] {
  return Array.isArray(given) ? given : [given];
}

/** The text as the declared type, or unchanged if that is not possible; validation then reports it. */
function parse(text: unknown, schema: JsonSchema): unknown {
  if (typeof text !== 'string') return text;
  switch (schema.type) {
    case 'integer':
      return /^-?\d+$/.test(text) ? Math.min(Number(text), schema['x-clamp'] ?? Infinity) : text;
    case 'number':
      return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    default:
      return text;
  }
}
