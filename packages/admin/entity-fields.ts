import { type EntityFields, partsOf } from '@octavo/core';
import type { Field, FieldOptions, Value } from './field.ts';
import { choice, dateTime, flag, integer, text } from './fields.ts';

/** A text that may have more characters than this gets a larger control, which keeps its line breaks. */
const longFrom = 200;

/** The admin's fields of an entity, in the same order; `more` has options that only the admin knows, by field. */
export function adminFields<F extends EntityFields>(
  fields: F,
  more: { readonly [K in keyof F]?: Partial<FieldOptions> } = {},
): Record<keyof F & string, Field> {
  const made = Object.keys(fields).map((name) => [name, fieldOf(fields, name, more[name])]);
  return Object.fromEntries(made);
}

function fieldOf(fields: EntityFields, name: string, more: Partial<FieldOptions> = {}): Field {
  const { label, labels, isNullable, schema } = partsOf(name, fields[name] ?? {});
  const { type, format, description, pattern, minLength, maxLength, minimum, maximum } = schema as Keywords;
  const initial = schema.default as Value | undefined;
  const options = {
    label,
    isOptional: isNullable || minLength === 0 || initial === '',
    ...(initial !== undefined && type !== 'boolean' && { initial }),
    ...(description !== undefined && { help: description }),
    ...more,
  };
  if (labels) return choice(Object.entries(labels), options);
  if (type === 'boolean') return flag(options);
  if (type === 'integer')
    return integer({
      ...options,
      ...(minimum !== undefined && { min: minimum }),
      ...(maximum !== undefined && { max: maximum }),
    });
  if (type !== 'string') throw new TypeError(`no field of the admin is of type ${type}`);
  if (format === 'date-time') return dateTime({ ...options, isText: true });
  const isLong = maxLength !== undefined && maxLength > longFrom && pattern === undefined;
  return text({ ...options, isLong, ...(maxLength !== undefined && { charactersMax: maxLength }) });
}

interface Keywords {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}
