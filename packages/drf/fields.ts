import { DateTimeError, formatDateTime, isBlank, parseDateTime } from '@octavo/core/text';

type Schema = Readonly<Record<string, unknown>>;

/** One field of a serializer: how it is documented, and how a given value is read. */
export interface Field<T, Required extends boolean = boolean> {
  /** JSON Schema, for `/openapi.json`. */
  readonly schema: Schema;
  readonly isRequired: Required;
  readonly isNullable: boolean;
  /** True if an empty text is a value. */
  readonly takesBlank?: boolean;
  /** Accepts a number as its text, such as `1.50`. */
  readonly takesNumberText?: boolean;
  /** The value of a field that an HTML form leaves out, as it does for a box that is not checked. */
  readonly formDefault?: T;
  /** True if all values count that a form has for the field; otherwise the last one. */
  readonly isList?: boolean;
  /** The stored value, if it is not null, as responses have it; as it is stored by default. */
  readonly show?: (stored: unknown) => unknown;
  /** The value to store; throws {@link FieldProblem}. It never gets `null` or `undefined`. */
  read(given: unknown): T | Promise<T>;
}

/** Problems with one value, in sentences for the caller. */
export class FieldProblem extends Error {
  readonly sentences: readonly string[];

  constructor(...sentences: string[]) {
    super(sentences.join(' '));
    this.sentences = sentences;
  }
}

/** Text of at most `maxLength` code points, trimmed unless `trims` is false, and not blank. A number is taken as its text. */
export function text({ maxLength, trims = true, ...schema }: TextOptions = {}): Field<string, true> {
  const bounds = { minLength: 1, ...(maxLength !== undefined && { maxLength }) };
  const field = required({ type: 'string', ...bounds, ...schema }, (given) => {
    if (typeof given !== 'string' && typeof given !== 'number') throw new FieldProblem('Not a valid string.');
    const value = trims ? trim(String(given)) : String(given);
    if (value === '') throw new FieldProblem('This field may not be blank.');
    const problems = textProblems(value, maxLength);
    if (problems.length > 0) throw new FieldProblem(...problems);
    if (trims && isBlank(value)) throw new FieldProblem('This field may not be blank.');
    return value;
  });
  return { ...field, takesNumberText: true };
}

type TextOptions = Schema & { readonly maxLength?: number; readonly trims?: boolean };

/** Returns the field, which may also be blank: white space is read as an empty text. */
export function blankable(field: Field<string, true>): Field<string, true> {
  const { minLength: _, ...schema } = field.schema;
  const read = (given: unknown) => (typeof given === 'string' && trim(given) === '' ? '' : field.read(given));
  return { ...field, schema, takesBlank: true, read };
}

/** A date-time as {@link parseDateTime} returns it. */
export function dateTime(schema: Schema = {}): Field<string, true> {
  const field = required({ type: 'string', format: 'date-time', ...schema }, (given) => {
    try {
      return parseDateTime(typeof given === 'string' ? given : '');
    } catch (error) {
      if (!(error instanceof DateTimeError)) throw error;
      throw new FieldProblem(error.isOutOfRange ? 'Datetime value out of range.' : dateTimeFormat);
    }
  });
  return { ...field, show: (stored) => formatDateTime(String(stored)) };
}

const dateTimeFormat =
  'Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].';

/** A boolean; also 1 and 0, and the words that the framework takes for them, such as `yes`. */
export function boolean(schema: Schema = {}): Field<boolean, true> {
  const field = required({ type: 'boolean', ...schema }, (given) => {
    const word = typeof given === 'object' ? '' : String(given).trim().toLowerCase();
    if (['t', 'y', 'yes', 'true', 'on', '1'].includes(word)) return true;
    if (['f', 'n', 'no', 'false', 'off', '0'].includes(word)) return false;
    throw new FieldProblem('Must be a valid boolean.');
  });
  return { ...field, formDefault: false, show: Boolean };
}

/** A whole number from `minimum` to `maximum`. */
export function integer({
  minimum = Number.MIN_SAFE_INTEGER,
  maximum = Number.MAX_SAFE_INTEGER,
  ...schema
}: { minimum?: number; maximum?: number } & Schema = {}): Field<number, true> {
  return required({ type: 'integer', minimum, maximum, ...schema }, (given) => {
    const value = wholeNumber(given);
    if (value === undefined) throw new FieldProblem('A valid integer is required.');
    if (value < minimum) throw new FieldProblem(`Ensure this value is greater than or equal to ${minimum}.`);
    if (value > maximum) throw new FieldProblem(`Ensure this value is less than or equal to ${maximum}.`);
    return value;
  });
}

/** One of a few names. */
export function choice<const T extends string>(names: readonly T[], schema: Schema = {}): Field<T, true> {
  return required({ type: 'string', enum: names, ...schema }, (given) => {
    const name = names.find((each) => each === given);
    if (name === undefined) throw new FieldProblem(`"${wordOf(given)}" is not a valid choice.`);
    return name;
  });
}

/** The id of a row that `exists`. */
export function primaryKey(
  exists: (id: number) => Promise<boolean>,
  schema: Schema = {},
): Field<number, true> {
  return required({ type: 'integer', minimum: 1, ...schema }, async (given) => {
    const id = typeof given === 'boolean' ? undefined : wholeNumber(given);
    if (id === undefined) {
      throw new FieldProblem(`Incorrect type. Expected pk value, received ${typeName(given)}.`);
    }
    if (!Number.isSafeInteger(id) || !(await exists(id))) throw new FieldProblem(missingRow(given));
    return id;
  });
}

/** Ids, at least one and at most `maxItems`; those that are repeated count once. */
export function primaryKeys({
  maxItems,
  ...schema
}: { maxItems: number } & Schema): Field<readonly number[], true> {
  const one = primaryKey(async () => true);
  const array = { type: 'array', items: one.schema, minItems: 1, maxItems, ...schema };
  const field = required(array, async (given) => {
    if (!Array.isArray(given))
      throw new FieldProblem(`Expected a list of items but got type "${typeName(given)}".`);
    if (given.length === 0) throw new FieldProblem('This list may not be empty.');
    if (given.length > maxItems) throw new FieldProblem(longList(maxItems));
    const ids = new Set<number>();
    for (const each of given) ids.add(await one.read(each));
    return [...ids];
  });
  return { ...field, isList: true };
}

/** The sentence about a list with more items than it may have. */
export function longList(maxItems: number): string {
  return `Ensure this field has no more than ${maxItems} elements.`;
}

/** The sentence about a key without a row. */
export function missingRow(id: unknown): string {
  return `Invalid pk "${wordOf(id)}" - object does not exist.`;
}

/** Returns the field, which a body may leave out. */
export function optional<T>(field: Field<T>): Field<T, false> {
  return { ...field, isRequired: false };
}

/** Returns the field, which may also be `null`. */
export function nullable<T, R extends boolean>(field: Field<T, R>): Field<T | null, R> {
  return { ...field, isNullable: true, schema: { anyOf: [field.schema, { type: 'null' }] } };
}

/** The name that Python gives to the type of a value from JSON, as error texts of the framework show it. */
export function typeName(value: unknown): string {
  if (value === null) return 'NoneType';
  if (Array.isArray(value)) return 'list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int' : 'float';
  const names: Readonly<Record<string, string>> = { string: 'str', boolean: 'bool', object: 'dict' };
  return names[typeof value] ?? typeof value;
}

function required<T>(schema: Schema, read: Field<T>['read']): Field<T, true> {
  return { schema, isRequired: true, isNullable: false, read };
}

function textProblems(value: string, maxLength = Number.POSITIVE_INFINITY): string[] {
  const problems: string[] = [];
  const isLong = value.length > maxLength && [...value].length > maxLength;
  if (isLong) problems.push(`Ensure this field has no more than ${maxLength} characters.`);
  if (value.includes('\u0000')) problems.push('Null characters are not allowed.');
  const surrogate = /\p{Surrogate}/u.exec(value)?.[0];
  if (surrogate !== undefined) {
    const code = surrogate.charCodeAt(0).toString(16).toUpperCase();
    problems.push(`Surrogate characters are not allowed: U+${code}.`);
  }
  return problems;
}

/** White space as defined by Python: without U+FEFF, with the separators U+001C to U+001F and U+0085. */
const spaces = '[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]';
const space = new RegExp(spaces);

/** A pattern with `+$` would take time in the square of the length for spaces in the middle. */
function trim(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && space.test(value.charAt(start))) start++;
  while (end > start && space.test(value.charAt(end - 1))) end--;
  return value.slice(start, end);
}

function wholeNumber(given: unknown): number | undefined {
  if (typeof given === 'number') return Number.isInteger(given) ? given : undefined;
  return typeof given === 'string' && /^\s*[+-]?\d+(\.0*)?\s*$/.test(given) ? Number(given) : undefined;
}

/** Objects and lists are named by their type, because they can be nested too deep to be written. */
function wordOf(given: unknown): string {
  return typeof given === 'object' ? typeName(given) : String(given);
}
