import type { Fields } from '@octavo/core';
import type { ErrorObject } from 'ajv';

interface Format {
  validate(value: string): boolean;
  readonly problem: string;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const date = /^\d{4}-\d\d-\d\d$/;
const dateTime = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Control characters, line breaks, and marks that change the direction of the text around a name. */
const notOfNames = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

/**
 * The values of `format` that are checked. Ours are `text`, which every database and every encoding can hold, and `name`, a text of one
 * line that cannot pretend to be another.
 */
export const formats: Readonly<Record<string, Format>> = {
  text: {
    validate: (value) => value.isWellFormed() && !value.includes('\u0000'),
    problem: 'must be well-formed Unicode without U+0000',
  },
  name: {
    validate: (value) => value.isWellFormed() && !notOfNames.test(value),
    problem: 'must be one line without control characters',
  },
  date: {
    validate: (value) => date.test(value) && isDay(value),
    problem: 'must be a date such as 2026-01-31',
  },
  uuid: { validate: (value) => uuid.test(value), problem: 'must be a UUID' },
  'date-time': {
    validate: (value) =>
      dateTime.test(value) && isDay(value.slice(0, 10)) && !Number.isNaN(Date.parse(value)),
    problem: 'must be a time such as 2026-01-31T12:00:00Z',
  },
};

/** A day of the calendar: `Date` makes March 1 of February 29 in other years. */
function isDay(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

type Problem = ErrorObject<string, Record<string, unknown>>;

/**
 * Converts Ajv's errors to one message for each name that the sender wrote, such as `title` or `posts[17].title`, in the order of
 * the schema's properties. Ajv itself reports missing properties first.
 */
export function fieldsOf(
  errors: readonly ErrorObject[],
  rootName: string,
  properties: readonly string[],
): Fields {
  const fields: Record<string, string> = {};
  const problems = meantErrors(errors).map((error) => ({ error, keys: keysOf(error) }));
  problems.sort(
    (one, other) => properties.indexOf(one.keys[0] ?? '') - properties.indexOf(other.keys[0] ?? ''),
  );
  for (const { error, keys } of problems) {
    const name = nameOf(keys) || rootName;
    if (!Object.hasOwn(fields, name)) fields[name] = problemOf(error);
  }
  return fields;
}

/**
 * Ajv reports the errors of every alternative of an `anyOf` before the one of the `anyOf`. If one alternative is `null`, the
 * errors of the other one count, otherwise only that none matches.
 */
function meantErrors(errors: readonly ErrorObject[]): Problem[] {
  const meant: Problem[] = [];
  for (const error of errors) {
    if (error.keyword !== 'anyOf') {
      meant.push(error);
      continue;
    }
    const branches: Problem[] = [];
    while (isWithin(meant.at(-1), error, `${error.schemaPath}/`)) branches.unshift(meant.pop() as Problem);
    const alternatives = error.schema as readonly Schema[];
    const index = alternatives.findIndex(({ type }) => type !== 'null');
    const isNullable = alternatives.filter(({ type }) => type !== 'null').length === 1;
    const own = branches.filter((branch) => isWithin(branch, error, `${error.schemaPath}/${index}/`));
    meant.push(...(isNullable ? own : [error]));
  }
  return meant;
}

function isWithin(error: Problem | undefined, anyOf: ErrorObject, schemaPath: string): boolean {
  return (
    !!error && error.schemaPath.startsWith(schemaPath) && error.instancePath.startsWith(anyOf.instancePath)
  );
}

function keysOf({ instancePath, keyword, params }: Problem): string[] {
  const keys = instancePath.split('/').slice(1);
  const plain = keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keyword === 'required' ? [...plain, String(params.missingProperty)] : plain;
}

/** The sender knows `posts`, `17` and `title` as `posts[17].title`. */
function nameOf(keys: readonly string[]): string {
  return keys.reduce((name, key) => {
    if (name !== '' && /^\d+$/.test(key)) return `${name}[${key}]`;
    return name === '' ? key : `${name}.${key}`;
  }, '');
}

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  /** The message for a value that does not match `pattern` or `anyOf`. */
  readonly 'x-problem'?: string;
}

function problemOf({ keyword, schema, parentSchema, params, data, message = '' }: Problem): string {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'type':
      return typeof data === 'number' && !Number.isFinite(data)
        ? 'must be a number in range'
        : typeProblem(params);
    case 'const':
      return `must be ${schema}`;
    case 'enum':
      return oneOf(schema as unknown[]);
    case 'anyOf':
      return (parentSchema as Schema)['x-problem'] ?? anyOfProblem(schema as readonly Schema[]);
    case 'pattern':
      return (parentSchema as Schema)['x-problem'] ?? `must match ${schema}`;
    case 'format':
      return formats[String(schema)]?.problem ?? message;
    case 'uniqueItems':
      return 'must not contain the same item twice';
    default:
      return boundProblem(keyword, schema as number) ?? message;
  }
}

function typeProblem({ type }: Record<string, unknown>): string {
  const problems: Readonly<Record<string, string>> = {
    string: 'must be a string',
    integer: 'must be a whole number',
    number: 'must be a number',
    boolean: 'must be true or false',
    null: 'must be null',
    array: 'must be an array',
    object: 'must be an object',
  };
  return problems[String(type)] ?? `must be ${type}`;
}

function boundProblem(keyword: string, bound: number): string | undefined {
  const problems: Readonly<Record<string, () => string>> = {
    minimum: () => `must be at least ${bound}`,
    maximum: () => `must be at most ${bound}`,
    exclusiveMinimum: () => `must be more than ${bound}`,
    exclusiveMaximum: () => `must be less than ${bound}`,
    multipleOf: () => `must be a multiple of ${bound}`,
    minLength: () => `must be at least ${count(bound, 'character')}`,
    maxLength: () => `must be at most ${count(bound, 'character')}`,
    minItems: () => `must have at least ${count(bound, 'item')}`,
    maxItems: () => `must have at most ${count(bound, 'item')}`,
    maxProperties: () => `must have at most ${bound} properties`,
  };
  return problems[keyword]?.();
}

function anyOfProblem(alternatives: readonly Schema[]): string {
  const isEnum = alternatives.every((each) => each.const !== undefined);
  return isEnum ? oneOf(alternatives.map((each) => each.const)) : 'does not have a permitted form';
}

function oneOf(values: readonly unknown[]): string {
  return `must be one of ${values.map(String).join(', ')}`;
}

function count(amount: number, unit: string): string {
  return amount === 1 ? `1 ${unit}` : `${amount} ${unit}s`;
}
