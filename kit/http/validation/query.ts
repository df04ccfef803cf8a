import type { TSchema } from '../../schema.ts';
import { compileReader, type Reading } from './reader.ts';
import type { JsonSchema } from './schema.ts';

type Texts = Record<string, unknown>;

/**
 * Compiles the schema of query or path parameters, or of a form's fields: an object of texts. Each is parsed by its
 * declared type: whole numbers `-?\d+`, numbers, `true` and `false`; what cannot be is a problem like any other. A
 * parameter given twice is one too, unless it is declared as an array, which a single one also makes.
 */
export function compileTextReader(schema: TSchema): (texts: Texts) => Reading<unknown> {
  const read = compileReader(schema, 'parameters');
  const properties = Object.entries((schema as JsonSchema).properties ?? {});
  return (texts) => {
    const parsed: Record<string, unknown> = {};
    const repeated: Record<string, string> = {};
    for (const [name, property] of properties) {
      const given = texts[name];
      if (given === undefined) continue;
      if (property.type === 'array') {
        parsed[name] = asList(given).map((text) => parse(text, property.items ?? {}));
      } else if (Array.isArray(given)) {
        repeated[name] = 'must be given once';
      } else {
        parsed[name] = parse(given, property);
      }
    }
    const reading = read(parsed);
    if (Object.keys(repeated).length === 0) return reading;
    return { fields: { ...reading.fields, ...repeated } };
  };
}

function asList(given: unknown): unknown[] {
  return Array.isArray(given) ? given : [given];
}

/** A text as the declared type, or unchanged where it cannot be one: the reader then says what it must be. */
function parse(text: unknown, schema: JsonSchema): unknown {
  if (typeof text !== 'string') return text;
  switch (schema.type) {
    case 'integer':
      return /^-?\d+$/.test(text) ? Number(text) : text;
    case 'number':
      return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    default:
      return text;
  }
}
