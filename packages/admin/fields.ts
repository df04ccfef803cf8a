import { DateTimeError, isBlank, parseDateTime } from '@octavo/core/text';
import { badge, time } from '@octavo/web/html';
import { type Choice, type Field, type FieldOptions, fieldOf, type Parsed, type Value } from './field.ts';

/** A text, trimmed, at most `charactersMax` code points. `isLong` gives it a larger control. */
export function text(
  options: FieldOptions & {
    charactersMax?: number;
    isLong?: boolean;
    pattern?: (text: string) => string | undefined;
  },
): Field {
  const { charactersMax = 100_000, isLong = false, isOptional = false, pattern } = options;
  return fieldOf(
    { initial: '', ...options },
    {
      control: { type: isLong ? 'textarea' : 'text', charactersMax },
      parse(typed) {
        const value = typed.trim();
        if (value === '') return isOptional ? { value: '' } : required;
        const problem = textProblem(value, charactersMax) ?? pattern?.(value);
        if (problem === undefined && isBlank(value))
          return isOptional ? { value: '' } : { problem: 'must not be blank' };
        return problem === undefined ? { value } : { problem };
      },
    },
  );
}

/** A whole number from `min` to `max`. */
export function integer(options: FieldOptions & { min?: number; max?: number }): Field {
  const { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER, isOptional = false } = options;
  return fieldOf(options, {
    control: { type: 'number' },
    kind: 'number',
    parse(typed) {
      const value = typed.trim();
      if (value === '') return isOptional ? { value: null } : required;
      const number = Number(value);
      if (!/^[+-]?\d+$/.test(value)) return { problem: 'must be a whole number' };
      if (number < min) return { problem: `must be at least ${min}` };
      return number > max ? { problem: `must be at most ${max}` } : { value: number };
    },
    show: (value) => (value === null ? '' : Number(value).toLocaleString('en')),
  });
}

/** Yes or no, stored as 1 and 0. */
export function flag(options: FieldOptions): Field {
  return fieldOf(
    { initial: 0, ...options, isOptional: true },
    {
      control: { type: 'flag' },
      kind: 'fit',
      parse(typed) {
        if (/^(true|1|yes|on)$/i.test(typed.trim())) return { value: 1 };
        if (/^(false|0|no|off|)$/i.test(typed.trim())) return { value: 0 };
        return { problem: 'must be true or false' };
      },
      format: (value) => (isSet(value) ? 'true' : 'false'),
      show: (value) => (isSet(value) ? badge('good', 'Yes') : badge('plain', 'No')),
    },
  );
}

/** One of a few values. */
export function choice(choices: readonly Choice[], options: FieldOptions): Field {
  const labels = new Map(choices);
  const { isOptional = false } = options;
  const initial = isOptional ? null : (choices[0]?.[0] ?? null);
  return fieldOf(
    { initial, ...options },
    {
      control: { type: 'choice', choices },
      kind: 'fit',
      parse(typed) {
        const value = typed.trim();
        if (value === '') return isOptional ? { value: null } : required;
        return labels.has(value) ? { value } : { problem: `must be one of ${[...labels.keys()].join(', ')}` };
      },
      show: (value) => (value === null ? '' : (labels.get(String(value)) ?? String(value))),
    },
  );
}

/**
 * An instant, typed in the reader's time zone, without scripts in UTC. It is stored as milliseconds since 1970, or with `isText` as ISO 8601 with six decimals
 * (`2026-01-01T12:00:00.000000Z`).
 */
export function dateTime(options: FieldOptions & { isText?: boolean }): Field {
  const { isOptional = false, isText = false } = options;
  return fieldOf(options, {
    control: { type: 'datetime' },
    kind: 'fit',
    parse(typed): Parsed {
      const value = typed.trim();
      if (value === '') return isOptional ? { value: null } : required;
      const iso = isoOf(value);
      if (iso === undefined) return { problem: 'must be a date and time such as 2026-01-31T12:00' };
      return { value: isText ? iso : Date.parse(iso) };
    },
    format: (value) => (value === null ? '' : isoText(value).replace(/\.?0*Z$/, 'Z')),
    show: (value) => (value === null ? '' : time(isoText(value))),
  });
}

/** An object of another model in the same database, by its path, such as `library/book`. */
export function reference(model: string, options: FieldOptions & { isText?: boolean }): Field {
  const { isOptional = false, isText = false } = options;
  return fieldOf(options, {
    control: { type: 'reference', model },
    parse(typed) {
      const value = typed.trim();
      if (value === '') return isOptional ? { value: null } : required;
      const problem = isText ? textProblem(value, textKeyCharactersMax) : undefined;
      if (problem !== undefined) return { problem };
      if (isText) return { value };
      const number = Number(value);
      const isKey = /^\d{1,16}$/.test(value) && Number.isSafeInteger(number);
      return isKey ? { value: number } : { problem: 'must be the number of an object' };
    },
  });
}

/** A password that is only written: its hash is made by the hooks of the model. */
export function password(options: FieldOptions): Field {
  return fieldOf(
    { initial: '', ...options },
    {
      control: { type: 'password' },
      isSecret: true,
      parse: (typed) => (typed === '' ? required : { value: typed }),
      format: () => '',
      show: () => '••••••',
    },
  );
}

const required: Parsed = { problem: 'is required' };
const textKeyCharactersMax = 200;

/** Returns the reason why a database should not store a text; undefined for a valid one. */
export function textProblem(value: string, charactersMax: number): string | undefined {
  if (value.includes('\0')) return 'must not contain the character U+0000';
  if (!value.isWellFormed()) return 'must be well-formed Unicode';
  const characters = value.length > charactersMax ? [...value].length : 0;
  return characters > charactersMax ? `must be at most ${charactersMax} characters` : undefined;
}

/** ISO 8601 with six decimals, in UTC; undefined if it is no instant of the years 1 to 9999. */
export function isoOf(typed: string): string | undefined {
  try {
    return parseDateTime(typed.toUpperCase());
  } catch (error) {
    if (error instanceof DateTimeError) return undefined;
    throw error;
  }
}

function isoText(value: Value): string {
  return typeof value === 'number' ? new Date(value).toISOString() : String(value);
}

function isSet(value: Value): boolean {
  return value === 1 || value === 'true';
}
