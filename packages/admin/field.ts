import type { Content } from '@octavo/web/html';
import type { AdminUser } from './user.ts';

/** A value of a field: as it is stored, or the members of a set. */
export type Value = string | number | null | readonly string[];

/** The values of an object by field. */
export type Values = Readonly<Record<string, Value>>;

/** Value of a field parsed from a text, or the problem with it, to be read after the label. */
export type Parsed = { readonly value: Value } | { readonly problem: string };

/** A choice of a field: its value as text, and its label. */
export type Choice = readonly [value: string, label: string];

/** Control that edits a field. */
export type Control =
  | { readonly type: 'text' | 'textarea' | 'number' | 'email' | 'password'; readonly charactersMax?: number }
  | { readonly type: 'datetime' }
  | { readonly type: 'flag' }
  | { readonly type: 'choice'; readonly choices: readonly Choice[] }
  | { readonly type: 'reference'; readonly model: string };

/** One field of a model. Make it with {@link text}, {@link integer}, {@link flag}, {@link choice}, {@link dateTime} or {@link reference}. */
export interface Field {
  readonly label: string;
  readonly help?: Content;
  /** The column, if it is not called like the field. */
  readonly column?: string;
  readonly isRequired: boolean;
  /** Shown but never edited, for everybody or for some. */
  readonly readOnly: boolean | ((user: AdminUser) => boolean);
  /** True for fields that only the form to add an object has. */
  readonly onlyWhenAdding?: boolean;
  /** The value of a new object before anything is typed. */
  readonly initial: (nowMs: number) => Value;
  readonly control: Control;
  /** Parses the text of a form or the cell of a file. */
  parse(text: string): Parsed;
  /** The value as it is typed, and as a file holds it. */
  format(value: Value): string;
  /** The value for readers; `format` by default. */
  show?(value: Value): Content;
  /** Secret: never shown, exported or recorded. */
  readonly isSecret?: boolean;
  readonly kind?: 'number' | 'fit';
}

/** Options of every kind of field. */
export interface FieldOptions {
  readonly label: string;
  readonly help?: Content;
  readonly column?: string;
  /** True if the field may be empty; an empty value is stored as `null`, for texts as `''`. */
  readonly isOptional?: boolean;
  readonly readOnly?: Field['readOnly'];
  readonly initial?: Value | ((nowMs: number) => Value);
}

/** The parts of a field that all kinds share. */
export function fieldOf(
  options: FieldOptions,
  rest: Pick<Field, 'control' | 'parse'> & Partial<Field>,
): Field {
  const { label, help, column, isOptional = false, readOnly = false, initial = null } = options;
  return {
    label,
    isRequired: !isOptional,
    readOnly,
    initial: typeof initial === 'function' ? initial : () => initial,
    format: (value) => (value === null || value === undefined ? '' : String(value)),
    ...(help !== undefined && { help }),
    ...(column !== undefined && { column }),
    ...rest,
  };
}
