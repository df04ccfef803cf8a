import type { Fields } from '@octavo/core';
import { AppError, Type } from '@octavo/core';
import type { Session } from '@octavo/data';
import { pageNumber } from '@octavo/web/html';
import type { Page } from '@octavo/web/rest';
import { compileTextValidator } from '@octavo/web/validation';
import { filtersOf, listMatching } from '../listing.ts';
import { type Filters, type Kind, kinds, type RecordOf } from '../records.ts';
import type { PageVisit } from '../site.ts';
import type { Tables } from '../store/store.ts';

export const pageSize = 50;

/** Filters of a list from the address, and their errors. */
export interface Listing<K extends Kind> {
  /** Filters as typed, without empty ones. */
  readonly typed: Readonly<Record<string, string>>;
  readonly sort: string;
  readonly page: number;
  readonly found: Page<RecordOf[K]>;
  readonly errors: Fields;
}

/** The parsers of the API, by kind. */
const parsers = Object.fromEntries(
  kinds.map((kind) => [kind, compileTextValidator(Type.Object(filtersOf(kind)))]),
) as Record<Kind, ReturnType<typeof compileTextValidator>>;

/** Amounts that people type in whole units, and the filters in minor units that they are. */
const wholeAmounts = { amount_from: 'min_amount', amount_to: 'max_amount' } as const;

/** Reads the filters of a page as the API does, and finds what matches. With a wrong filter nothing is found. */
export async function readListing<K extends Kind>(
  { request }: PageVisit,
  store: Session<Tables>,
  kind: K,
): Promise<Listing<K>> {
  const query = request.query as Readonly<Record<string, unknown>>;
  const typed: Record<string, string> = {};
  for (const name of [...Object.keys(filtersOf(kind)), ...Object.keys(wholeAmounts)]) {
    const text = [query[name]].flat().at(-1);
    if (typeof text === 'string' && text.trim() !== '') typed[name] = text.trim().slice(0, 300);
  }
  const page = pageNumber(query);
  const { value, fields } = parsers[kind](withMinorUnits(typed)) as {
    value?: Filters[K] & { readonly sort: string };
    fields?: Fields;
  };
  const none = { items: [], total: 0, next: undefined };
  const { sort: sorted = '', ...filters } = typed;
  if (fields || !value)
    return { typed: filters, sort: sorted, page, found: none, errors: named(fields ?? {}) };
  const { sort } = value;
  try {
    const range = { limit: pageSize, offset: (page - 1) * pageSize };
    const found = await listMatching(store, kind, { ...value, ...range });
    return { typed: filters, sort, page, found, errors: {} };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'validation_failed') throw error;
    return { typed: filters, sort, page, found: none, errors: named(error.fields) };
  }
}

/** `1,000,000` as the API takes it, in cents. Other texts stay, and are refused by its rules. */
function withMinorUnits(typed: Readonly<Record<string, string>>): Record<string, string> {
  const { amount_from, amount_to, ...others } = typed;
  const rest: Record<string, string> = { ...others };
  for (const [name, text] of Object.entries({ amount_from, amount_to })) {
    if (text === undefined) continue;
    const isWhole = /^\d{1,3}([., '’\u00A0\u202F]\d{3})+$|^\d+$/.test(text);
    const minor = isWhole ? `${text.replace(/\D/g, '')}00` : text;
    rest[wholeAmounts[name as keyof typeof wholeAmounts]] = isWhole ? minor : 'x';
  }
  return rest;
}

/** Problems by the names that the form has. */
function named(fields: Fields): Fields {
  const names: Readonly<Record<string, string>> = { min_amount: 'amount_from', max_amount: 'amount_to' };
  const words: Readonly<Record<string, string>> = {
    amount_from: 'must be a whole amount such as 1,000,000',
    amount_to: 'must be a whole amount, not less than the other',
    to: 'must be a day, not before the other',
  };
  return Object.fromEntries(
    Object.entries(fields).map(([name, problem]) => {
      const shown = names[name] ?? name;
      return [shown, words[shown] ?? problem];
    }),
  );
}
