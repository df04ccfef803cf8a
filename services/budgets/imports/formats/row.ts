import { parseMoney } from '#kit/money/money.ts';
import { readAmount } from '#kit/money/written-amount.ts';
import { isBlank } from '#kit/text/visible-text.ts';
import type { NewExpense } from '../../expenses/index.ts';

export const importFormats = ['csv', 'ofx', 'qif'] as const;
export type ImportFormat = (typeof importFormats)[number];

export const dateFormats = ['ymd', 'mdy', 'dmy'] as const;
export type DateFormat = (typeof dateFormats)[number];

/** Our fields of a row, which a mapping assigns to columns of a CSV file. */
export const rowFields = [
  'spentOn',
  'description',
  'amount',
  'currency',
  'category',
  'tags',
  'notes',
  'externalId',
] as const;
export type RowField = (typeof rowFields)[number];

/** Options for reading a file. */
export interface ReadOptions {
  readonly format: ImportFormat;
  /** The currency of the budget. */
  readonly currency: string;
  /** CSV: the column of each field whose column has another name. */
  readonly mapping: Readonly<Partial<Record<RowField, string>>>;
  /** Sign of the amounts that are expenses; the others are skipped. In OFX and QIF always negative. */
  readonly sign: 'positive' | 'negative';
  readonly dateFormat: DateFormat;
}

/** Parsed row of a file. The line is its first one, counted from 1. */
export type ParsedRow =
  | { readonly line: number; readonly expense: NewExpense }
  | { readonly line: number; readonly error: RowError }
  | { readonly line: number; readonly isSkipped: true };

export interface RowError {
  readonly field: string;
  readonly message: string;
}

/** Reads a file piece by piece. */
export interface FileParser {
  push(text: string): ParsedRow[];
  /** The rest, at the end of the file. */
  end(): ParsedRow[];
}

/** The texts of a row, as they are in the file. */
export type RowTexts = Readonly<Partial<Record<RowField, string>>>;

const lengths = { description: 500, category: 100, notes: 2_000, externalId: 255 };
const tagsMax = 20;
const tagCharacters = 50;

/** Checks the texts of a row by the rules of an expense. `decimal` is the decimal sign of the file. */
export function parseRow(
  line: number,
  texts: RowTexts,
  { currency, sign, dateFormat, decimal = '.' }: ReadOptions & { readonly decimal?: '.' | ',' },
): ParsedRow {
  const fail = (field: string, message: string) => ({ line, error: { field, message } });
  for (const [field, text] of Object.entries(texts)) {
    if (!text.isWellFormed() || text.includes('\0'))
      return fail(field, 'must be well-formed Unicode without U+0000');
  }
  const spentOn = parseDate(texts.spentOn ?? '', dateFormat);
  if (spentOn === undefined)
    return fail('spentOn', `must be a date (${dateFormat}), not ${shown(texts.spentOn)}`);
  const given = texts.currency?.trim().toUpperCase();
  if (given && given !== currency) return fail('currency', `must be ${currency}, the currency of the budget`);
  const read = readAmount(texts.amount ?? '', currency, { decimal });
  const amount = read.problem === undefined ? parseMoney(read.text, currency) : read;
  if (amount.problem !== undefined) return fail('amount', `${amount.problem}, not ${shown(texts.amount)}`);
  const minor = sign === 'negative' ? -amount.minor : amount.minor;
  if (minor <= 0 && sign === 'negative') return { line, isSkipped: true };
  if (minor <= 0) return fail('amount', 'must be more than 0');
  const expense = {
    description: (texts.description ?? '').trim(),
    minor,
    category: textOf(texts.category),
    tags: parseTags(texts.tags ?? ''),
    spentOn,
    notes: textOf(texts.notes),
    externalId: textOf(texts.externalId),
  };
  if (isBlank(expense.description)) return fail('description', 'must not be blank');
  for (const [field, max] of Object.entries(lengths)) {
    const text = expense[field as keyof typeof lengths] ?? '';
    if (text.length > max && [...text].length > max) return fail(field, `must be at most ${max} characters`);
  }
  if (expense.tags.length > tagsMax) return fail('tags', `must have at most ${tagsMax} items`);
  if (expense.tags.some((tag) => [...tag].length > tagCharacters))
    return fail('tags', `must have at most ${tagCharacters} characters each`);
  return { line, expense };
}

/** A date as `YYYY-MM-DD`. A year of two digits is in this century. */
export function parseDate(text: string, format: DateFormat): string | undefined {
  const parts = partsOfDate(text);
  if (!parts) return undefined;
  const [one, two, three] = parts;
  const [year, month, day] =
    format === 'ymd' ? [one, two, three] : format === 'mdy' ? [three, one, two] : [three, two, one];
  return dateOf(year, month, day);
}

/** The three numbers of a date, as texts. */
export function partsOfDate(text: string): [string, string, string] | undefined {
  const [, one, two, three] =
    /^\s*(\d{1,4})[-/. ']\s*(\d{1,2})[-/. ']\s*(\d{1,4})(?:[T ].*)?\s*$/.exec(text) ?? [];
  return one !== undefined && two !== undefined && three !== undefined ? [one, two, three] : undefined;
}

/** A day that exists, from the numbers of its parts. */
export function dateOf(year: string, month: string, day: string): string | undefined {
  if (year.length !== 4 && year.length !== 2) return undefined;
  const fullYear = year.length === 2 ? `20${year}` : year;
  const date = `${fullYear}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const time = Date.parse(`${date}T00:00:00Z`);
  const isDay = /^[12]\d{3}-\d\d-\d\d$/.test(date) && !Number.isNaN(time);
  return isDay && new Date(time).toISOString().startsWith(date) ? date : undefined;
}

/** Tags of one text: separated by `;`, with `\` before a `;` or `\` of a tag itself. */
export function parseTags(text: string): string[] {
  const tags: string[] = [];
  let tag = '';
  for (let index = 0; index < text.length; index++) {
    const sign = text[index] as string;
    if (sign === ';') {
      tags.push(tag);
      tag = '';
    } else {
      tag += sign === '\\' && index + 1 < text.length ? text[++index] : sign;
    }
  }
  tags.push(tag);
  return [...new Set(tags.map((each) => each.trim()).filter((each) => each !== ''))];
}

/** The text that {@link parseTags} reads. */
export function tagText(tags: readonly string[]): string {
  return tags.map((tag) => tag.replace(/[;\\]/g, '\\$&')).join(';');
}

function textOf(text: string | undefined): string | null {
  return text?.trim() || null;
}

function shown(text = ''): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
