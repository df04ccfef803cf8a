import { type EntityFields, partsOf, type Static, type TSchema } from '@octavo/core';
import {
  blankable,
  boolean,
  choice,
  dateTime,
  type Field,
  integer,
  nullable,
  optional,
  text,
} from './fields.ts';

/** The serializer's fields of an entity, in the same order. */
export function serializerFields<F extends EntityFields>(
  fields: F,
): { [K in keyof F]: Field<Static<F[K]>, F[K] extends { '~optional': true } ? false : true> } {
  const made = Object.entries(fields).map(([name, field]) => [name, fieldOf(name, field)]);
  return Object.fromEntries(made);
}

function fieldOf(name: string, given: TSchema): Field<unknown> {
  const { schema, isNullable, hasDefault } = partsOf(name, given);
  const bare = bareField(schema);
  const field = isNullable ? nullable(bare) : bare;
  return hasDefault || isNullable ? optional(field) : field;
}

function bareField({
  type,
  format,
  enum: names,
  ...schema
}: Readonly<Record<string, unknown>>): Field<unknown> {
  if (Array.isArray(names)) return choice(names, schema);
  if (type === 'boolean') return boolean(schema);
  if (type === 'integer') return integer(schema);
  if (type !== 'string') throw new TypeError(`no field of a serializer is of type ${type}`);
  if (format === 'date-time') return dateTime(schema);
  return schema.minLength === 0 ? blankable(text(schema)) : text(schema);
}
