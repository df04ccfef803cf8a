import { termsOf } from '@octavo/data/terms';
import { digitsOf } from '@octavo/documents/values';
import { amountOf, countryName, type QuestionWords, yearsOf } from '@octavo/reader/conditions';
import type { ApiRecord, DataKind } from '../trace.ts';

/** A condition of a question on the records that it asks for. */
export interface Condition {
  /** As the answer names it, after the noun or, with `isAdjective`, before it. */
  readonly label: string;
  readonly isAdjective?: boolean;
  /** Parameters of the API that apply it. */
  readonly params?: Readonly<Record<string, string>>;
  /** Field that the answer shows with each record. */
  readonly shows?: string;
  /** Undefined if the record does not tell. */
  matches(row: ApiRecord): boolean | undefined;
}

export interface Conditions {
  readonly conditions: readonly Condition[];
  /** Parts that no field of these records can be compared with, as they were written. */
  readonly unknown: readonly string[];
}

/** The conditions of a question on records of a kind: status, year and one amount. */
export function conditionsOf(kind: DataKind, words: QuestionWords): Conditions {
  const status = kind === 'investments' ? statusCondition(words) : undefined;
  const isExit = status?.params?.status === 'exited';
  const years = yearCondition(kind, words, isExit);
  const amount = amountCondition(kind, words);
  return {
    conditions: [...(status ? [status] : []), ...years.conditions, ...amount.conditions],
    unknown: [...years.unknown, ...amount.unknown],
  };
}

const statuses: readonly [status: string, RegExp][] = [
  ['exited', /exits?|exited|sold/],
  ['written_off', /written off|write offs?/],
  ['active', /(?:still |currently )?active/],
];

function statusCondition(words: QuestionWords): Condition | undefined {
  for (const [status, pattern] of statuses) {
    const [match] = words.take(pattern);
    if (!match) continue;
    const isNegated = words.takeNegation(match.first);
    return {
      label: `${isNegated ? 'not ' : ''}${status.replaceAll('_', ' ')}`,
      isAdjective: true,
      ...(isNegated ? { shows: 'status' } : { params: { status } }),
      matches: (row) => tested(row, 'status', (value) => (value === status) !== isNegated),
    };
  }
  return undefined;
}

function yearCondition(kind: DataKind, words: QuestionWords, isExit: boolean): Conditions {
  const years = yearsOf(words);
  if (years.length === 0) return none;
  const [only] = years;
  if (kind === 'sectors' || years.length > 1 || !only)
    return { conditions: [], unknown: years.map(({ text }) => text) };
  const { from, to, isNegated, text } = only;
  const field = kind === 'team' ? 'joined_on' : isExit ? 'exited_on' : 'invested_on';
  const fits = (value: string) => (from === undefined || value >= from) && (to === undefined || value <= to);
  const condition: Condition = {
    label: isNegated ? `not ${text}` : text,
    ...(field === 'invested_on' && !isNegated && { params: { ...(from && { from }), ...(to && { to }) } }),
    shows: field,
    matches: (row) =>
      row[field] === null ? false : tested(row, field, (value) => fits(value) !== isNegated),
  };
  return { conditions: [condition], unknown: [] };
}

function amountCondition(kind: DataKind, words: QuestionWords): Conditions {
  const bound = amountOf(words);
  if (!bound) return none;
  const { least, most, isStrict, currency, text } = bound;
  if (kind === 'team') return { conditions: [], unknown: [text] };
  const field = kind === 'sectors' ? 'total_amount_minor' : 'amount_minor';
  const minor = (value: number | undefined) => value && Math.round(value * 10 ** digitsOf(currency ?? 'EUR'));
  const [low, high, edge] = [minor(least), minor(most), isStrict ? 1 : 0];
  const condition: Condition = {
    label: text,
    shows: field,
    // The API compares amounts of all currencies.
    ...(kind === 'investments' &&
      !currency && {
        params: {
          ...(low !== undefined && { min_amount: String(low + edge) }),
          ...(high !== undefined && { max_amount: String(high - edge) }),
        },
      }),
    matches(row) {
      const value = row[field];
      if (typeof value !== 'number' || (currency && row.currency !== currency)) return undefined;
      return (low === undefined || value >= low + edge) && (high === undefined || value <= high - edge);
    },
  };
  return { conditions: [condition], unknown: [] };
}

/** A condition that a record has all the words. */
export function textCondition(written: string): Condition {
  const stems = termsOf(written).map(({ stem }) => stem);
  return {
    label: `with “${written}”`,
    matches(row) {
      const texts = Object.entries(row).flatMap(([field, value]) =>
        typeof value === 'string' && !/(^|_)(id|slug|on|at)$|email|website/.test(field)
          ? [value.replaceAll('_', ' '), ...(field === 'country' ? [countryName(value)] : [])]
          : [],
      );
      const has = new Set(termsOf(texts.join(' ')).map(({ stem }) => stem));
      return stems.length > 0 && stems.every((stem) => has.has(stem));
    },
  };
}

const none: Conditions = { conditions: [], unknown: [] };

function tested(row: ApiRecord, field: string, test: (value: string) => boolean): boolean | undefined {
  const value = row[field];
  return typeof value === 'string' && value !== '' ? test(value) : undefined;
}
