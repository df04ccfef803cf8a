import type { Problems } from './problems.ts';
import type { Compile, JsonSchema, Read } from './schema.ts';

type Properties = Record<string, unknown>;

/** Reads an object to a new one that has the declared properties only; for a record, every property. */
export function objectReader(schema: JsonSchema, compile: Compile): Read {
  const properties = Object.entries(schema.properties ?? {}).map(([key, property]) => ({
    key,
    read: compile(property),
    fallback: property.default,
    isRequired: schema.required?.includes(key) ?? false,
  }));
  const readRest = restReader(schema, compile);
  return (value, problems) => {
    if (!isObject(value)) return problems.add('must be an object');
    const clean: Properties = {};
    for (const { key, read, fallback, isRequired } of properties) {
      const given = Object.hasOwn(value, key) ? value[key] : undefined;
      if (given === undefined) {
        if (fallback !== undefined) clean[key] = fallback;
        else if (isRequired) problems.addTo(key, 'is required');
      } else {
        clean[key] = readAt(key, read, given, problems);
      }
    }
    readRest?.(value, clean, problems);
    return clean;
  };
}

type ReadRest = (value: Properties, clean: Properties, problems: Problems) => void;

function restReader(schema: JsonSchema, compile: Compile): ReadRest | undefined {
  const rest = restSchema(schema);
  if (!rest) return undefined;
  const read = compile(rest);
  const { maxProperties = Number.POSITIVE_INFINITY, properties = {} } = schema;
  return (value, clean, problems) => {
    const keys = Object.keys(value).filter((key) => key !== '__proto__' && !Object.hasOwn(properties, key));
    if (keys.length > maxProperties) problems.add(`must have at most ${maxProperties} properties`);
    else for (const key of keys) clean[key] = readAt(key, read, value[key], problems);
  };
}

/** What the properties of a record are read by; TypeBox writes it as the pattern for any key. */
function restSchema(schema: JsonSchema): JsonSchema | undefined {
  const { patternProperties, additionalProperties } = schema;
  if (patternProperties) {
    const [pattern, record] = Object.entries(patternProperties)[0] ?? [];
    if (pattern !== '^.*$') throw new Error('a record with a pattern for its keys is not known here');
    return record;
  }
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

function readAt(key: string, read: Read, value: unknown, problems: Problems): unknown {
  problems.enter(key);
  const clean = read(value, problems);
  problems.leave();
  return clean;
}

function isObject(value: unknown): value is Properties {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
