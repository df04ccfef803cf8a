import type { TSchema } from '@octavo/core';
import { FormFields } from '@octavo/web/server';
import { exactValue } from '@octavo/web/validation';
import { type FieldErrors, fieldErrors, nonFieldErrors } from './errors.ts';
import { type Field, FieldProblem, typeName } from './fields.ts';

/** Declared fields by name. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** Values read from a body: fields that a body may leave out are optional. */
export type Values<F extends Fields> = {
  readonly [K in keyof F as F[K] extends Field<unknown, true> ? K : never]: ValueOf<F[K]>;
} & {
  readonly [K in keyof F as F[K] extends Field<unknown, true> ? never : K]?: ValueOf<F[K]>;
};

type ValueOf<F> = F extends Field<infer T> ? T : never;

/** Reads bodies by declared fields. Unknown keys are ignored. Errors of all fields come together, as `fieldErrors`. */
export interface Serializer<F extends Fields> {
  /** JSON Schema of a whole body, for the `body` of a route's schema. */
  readonly schema: TSchema;
  /** Schema of a body without required fields, for PATCH. */
  readonly partialSchema: TSchema;
  /** Reads a body of JSON or of a form; an absent one counts as `{}`. */
  parse(body: unknown): Promise<Values<F>>;
  /** Reads a body that may leave out any field. */
  parsePartial(body: unknown): Promise<Partial<Values<F>>>;
}

/**
 * Makes a serializer of fields, in the order in which errors are reported. With a `title`, `BookRequest`, its schemas have names in
 * `/openapi.json`: that one, and `PatchedBookRequest`.
 */
export function serializer<const F extends Fields>(
  fields: F,
  { title }: { readonly title?: string } = {},
): Serializer<F> {
  const properties = Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));
  const required = Object.keys(fields).filter((name) => fields[name]?.isRequired);
  const object = { type: 'object', properties };
  return {
    schema: { ...object, ...(required.length > 0 && { required }), ...(title && { title }) },
    partialSchema: { ...object, ...(title && { title: `Patched${title}` }) },
    parse: (body) => read(fields, body, false) as Promise<Values<F>>,
    parsePartial: (body) => read(fields, body, true) as Promise<Partial<Values<F>>>,
  };
}

/**
 * Reads each item of a list, all or none: the errors of an item stand under its index, `{ "2": { "text": [...] } }`.
 */
export async function parseItems<T>(
  items: readonly unknown[],
  parse: (item: unknown) => Promise<T>,
): Promise<T[]> {
  const values: T[] = [];
  const errors: Record<string, FieldErrors> = {};
  for (const [index, item] of items.entries()) {
    try {
      values.push(await parse(item));
    } catch (error) {
      errors[index] = detailsOf(error);
    }
  }
  if (Object.keys(errors).length > 0) throw fieldErrors(errors);
  return values;
}

function detailsOf(error: unknown): FieldErrors {
  const { details } = error as { details?: FieldErrors };
  if (details === undefined) throw error;
  return details;
}

async function read(fields: Fields, body: unknown, isPartial: boolean): Promise<Record<string, unknown>> {
  const given = readObject(body);
  const isForm = body instanceof FormFields;
  const values: Record<string, unknown> = {};
  const errors: Record<string, readonly string[]> = {};
  for (const [name, field] of Object.entries(fields)) {
    try {
      const isText = field.takesNumberText ?? false;
      const exact = Object.hasOwn(given, name) ? exactValue(given, name, isText) : undefined;
      // Of repeated fields of a form, the last one counts, except for a list.
      const sent = isForm && !field.isList ? [exact].flat().at(-1) : exact;
      const value = await readField(field, sent, { isForm, isPartial });
      if (value !== undefined) values[name] = value;
    } catch (error) {
      if (!(error instanceof FieldProblem)) throw error;
      errors[name] = error.sentences;
    }
  }
  if (Object.keys(errors).length > 0) throw fieldErrors(errors);
  return values;
}

function readObject(body: unknown): Readonly<Record<string, unknown>> {
  if (body === undefined) return {};
  if (body === null) throw fieldErrors({ [nonFieldErrors]: ['No data provided'] });
  if (body instanceof FormFields)
    return Object.fromEntries(Object.entries(body.values).map(([name, given]) => [name, [given].flat()]));
  if (typeof body === 'object' && !Array.isArray(body)) return body as Record<string, unknown>;
  const sentence = `Invalid data. Expected a dictionary, but got ${typeName(body)}.`;
  throw fieldErrors({ [nonFieldErrors]: [sentence] });
}

async function readField(
  field: Field<unknown>,
  value: unknown,
  { isForm, isPartial }: { isForm: boolean; isPartial: boolean },
): Promise<unknown> {
  const given = isForm && !isPartial && value === undefined ? field.formDefault : value;
  if (given === undefined) {
    if (field.isRequired && !isPartial) throw new FieldProblem('This field is required.');
    return undefined;
  }
  // A form has no null: an empty control stands for it.
  const isEmptyControl = isForm && given === '';
  if (given === null || (isEmptyControl && field.isNullable)) {
    if (!field.isNullable) throw new FieldProblem('This field may not be null.');
    return null;
  }
  if (isEmptyControl && !field.isRequired && !field.takesBlank) return undefined;
  return field.read(given);
}
