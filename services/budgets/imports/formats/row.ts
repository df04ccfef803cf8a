import { isBlank } from '@octavo/core/text';
import { isUnitOf } from '@octavo/documents/values';
import { type Direction, directionOf, readDay, readMoney } from '@octavo/web/imports';
import type { NewExpense } from '../../expenses/index.ts';
import type { RawRow, Reading, RowError, RowTexts } from './reading.ts';
import { parseTags } from './tags.ts';

/** Parsed row of a file. The line is its first one, counted from 1. */
export type ParsedRow =
  | { readonly line: number; readonly expense: NewExpense }
  | Exclude<RawRow, { readonly texts: RowTexts }>;

const lengths = { description: 500, category: 100, notes: 2_000, externalId: 255 };
const tagsMax = 20;
const tagCharacters = 50;

type Read = Pick<Reading, 'currency' | 'sign' | 'dateFormat' | 'decimal' | 'account'>;

/** Checks the texts of a row by the rules of an expense. Money that comes in is skipped. */
export function parseRow(row: RawRow, reading: Read): ParsedRow {
  if (!('texts' in row)) return row;
  const { line, texts } = row;
  const fail = (field: string, message: string) => ({ line, error: { field, message } });
  for (const [field, text] of Object.entries(texts))
    if (!text.isWellFormed()) return fail(field, 'must be well-formed Unicode');
  const spentOn = readDay(texts.spentOn ?? '', reading.dateFormat);
  const paid = paidOut(texts, reading);
  if (spentOn === undefined && (!texts.spentOn?.trim() || paid === undefined))
    return hasNoMoney(texts) ? { line, isOutside: true } : { line, skipped: 'no day' };
  if (spentOn === undefined)
    return fail('spentOn', `must be a date (${reading.dateFormat}), not ${shown(texts.spentOn)}`);
  if (paid === undefined) return { line, skipped: 'no amount' };
  if ('message' in paid) return { line, error: paid };
  const given = texts.currency?.trim();
  if (given && !isUnitOf(reading.currency, given))
    return fail('currency', `must be ${reading.currency}, the currency of the budget`);
  if (paid.minor === 0) return { line, skipped: 'an amount of 0' };
  if (paid.minor < 0) return { line, skipped: 'money that came in' };
  return checked(line, texts, {
    spentOn,
    minor: paid.minor,
    account: textOf(texts.account) ?? reading.account,
  });
}

function checked(
  line: number,
  texts: RowTexts,
  paid: Pick<NewExpense, 'spentOn' | 'minor' | 'account'>,
): ParsedRow {
  const fail = (field: string, message: string) => ({ line, error: { field, message } });
  const text = (texts.description ?? '').trim();
  const expense = {
    ...paid,
    text,
    description: isBlank(text) ? 'Imported expense' : text,
    category: textOf(texts.category),
    tags: parseTags(texts.tags ?? ''),
    notes: textOf(texts.notes),
    externalId: textOf(texts.externalId),
  };
  for (const [field, max] of Object.entries(lengths)) {
    const text = expense[field as keyof typeof lengths] ?? '';
    if (text.length > max && [...text].length > max) return fail(field, `must be at most ${max} characters`);
  }
  if (expense.tags.length > tagsMax) return fail('tags', `must have at most ${tagsMax} items`);
  if (expense.tags.some((tag) => [...tag].length > tagCharacters))
    return fail('tags', `must have at most ${tagCharacters} characters each`);
  return { line, expense };
}

function hasNoMoney({ amount, debit, credit }: RowTexts): boolean {
  return [amount, debit, credit].every((text) => !/\d/.test(text ?? ''));
}

/** The amount that a row says was paid, less than 0 for money that came in; undefined if it names none. */
function paidOut(texts: RowTexts, reading: Read): { readonly minor: number } | RowError | undefined {
  const { amount = '', debit = '', credit = '', direction = '' } = texts;
  if (debit.trim() !== '' || credit.trim() !== '') return paidOfTwo({ debit, credit }, reading);
  if (amount.trim() === '') return undefined;
  const read = readMoney(amount, reading.currency, reading.decimal);
  if (read.problem !== undefined)
    return { field: 'amount', message: `${read.problem}, not ${shown(amount)}` };
  const side = direction.trim() === '' ? read.direction : directionOf(direction);
  if (direction.trim() !== '' && side === undefined)
    return { field: 'direction', message: `must say debit or credit, not ${shown(direction)}` };
  return { minor: side ? signed(read.minor, side) : reading.sign === 'negative' ? -read.minor : read.minor };
}

const signed = (minor: number, side: Direction) => (side === 'out' ? Math.abs(minor) : -Math.abs(minor));

function paidOfTwo(
  { debit, credit }: { readonly debit: string; readonly credit: string },
  { currency, decimal }: Read,
): { readonly minor: number } | RowError {
  let minor = 0;
  for (const [field, text, side] of [
    ['debit', debit, 'out'],
    ['credit', credit, 'in'],
  ] as const) {
    if (text.trim() === '') continue;
    const read = readMoney(text, currency, decimal);
    if (read.problem !== undefined) return { field, message: `${read.problem}, not ${shown(text)}` };
    minor += signed(read.minor, side);
  }
  return { minor };
}

function textOf(text: string | undefined): string | null {
  return text?.trim() || null;
}

function shown(text = ''): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
