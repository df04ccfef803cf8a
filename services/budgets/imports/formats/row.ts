import { isBlank } from '@octavo/core/text';
import {
  digitsOf,
  divideHalfEven,
  isCurrency,
  isUnitOf,
  minorMax,
  parseDecimal,
} from '@octavo/documents/values';
import { type Direction, directionOf, readDay, readMoney } from '@octavo/web/imports';
import type { NewExpense } from '../../expenses/index.ts';
import type { RawRow, Reading, RowError, RowTexts } from './reading.ts';
import { isRefundType } from './refund-types.ts';
import { parseTags } from './tags.ts';

/** Parsed row of a file. The line is its first one, counted from 1. */
export type ParsedRow =
  | { readonly line: number; readonly expense: NewExpense }
  | Exclude<RawRow, { readonly texts: RowTexts }>;

const lengths = { description: 500, category: 100, notes: 2_000, externalId: 255 };
const tagsMax = 20;
const tagCharacters = 50;
const rateDigitsMax = 30;

type Read = Pick<Reading, 'currency' | 'anyCurrency' | 'sign' | 'dateFormat' | 'decimal' | 'account'>;

/** Checks the texts of a row by the rules of an expense. Money that came in has an amount below 0. */
export function parseRow(row: RawRow, given: Read): ParsedRow {
  if (!('texts' in row)) return row;
  const { line, texts } = row;
  const reading = { ...given, currency: currencyOf(texts, given) };
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
  const unit = texts.currency?.trim();
  if (unit && !isUnitOf(reading.currency, unit))
    return fail('currency', `must be ${reading.currency}, the currency of the budget`);
  if (paid.minor === 0) return { line, skipped: 'an amount of 0' };
  return checked(line, texts, {
    spentOn,
    minor: paid.minor,
    currency: reading.currency,
    account: textOf(texts.account) ?? reading.account,
    original: paidAbroad(texts, Math.abs(paid.minor), reading.currency),
    ...(paid.minor < 0 && isRefundType(texts.type) && { isRefund: true }),
  });
}

function checked(
  line: number,
  texts: RowTexts,
  paid: Pick<NewExpense, 'spentOn' | 'minor' | 'currency' | 'account' | 'original' | 'isRefund'>,
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

/** The currency that a row names by its code, where it may be any. */
function currencyOf({ currency = '' }: RowTexts, reading: Read): string {
  const code = currency.trim().toUpperCase();
  return reading.anyCurrency && isCurrency(code) ? code : reading.currency;
}

/** The amount before the bank converted it, by its rate: units of the account's currency for one of the other. */
function paidAbroad(
  { originalCurrency = '', rate: written = '' }: RowTexts,
  minor: number,
  currency: string,
): NewExpense['original'] {
  const from = originalCurrency.toUpperCase();
  const rate = parseDecimal(written);
  if (!isCurrency(from) || from === currency || !rate || rate.units <= 0n || rate.scale > rateDigitsMax)
    return null;
  const scale = rate.scale + digitsOf(from) - digitsOf(currency);
  const paid = BigInt(minor) * 10n ** BigInt(Math.max(scale, 0));
  const original = divideHalfEven(paid, rate.units * 10n ** BigInt(Math.max(-scale, 0)));
  if (original <= 0n || original > BigInt(minorMax)) return null;
  return { minor: Number(original), currency: from, rate: written };
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
