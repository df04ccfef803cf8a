import { termsOf } from '@octavo/data/terms';
import {
  amountsOf,
  countriesOf,
  countryName,
  periodsOf,
  type QuestionWords,
} from '@octavo/reader/conditions';
import type { ApiRecord, DataKind } from '../trace.ts';

/** A condition of a question on the records that it asks for. */
export interface Condition {
  /** As the answer names it, after the noun or, with `isAdjective`, before it. */
  readonly label: string;
  readonly isAdjective?: boolean;
  /** Plural noun for the records, in place of that of their kind. */
  readonly noun?: string;
  /** Parameters of the API that apply it. */
  readonly params?: Readonly<Record<string, string>>;
  /** Field that the answer shows with each record. */
  readonly shows?: string;
  /** Undefined if the record does not tell. */
  matches(row: ApiRecord): boolean | undefined;
}

/** Values that the records of the API have, folded. */
export interface Vocabulary {
  readonly locations: readonly string[];
  readonly roles: readonly string[];
}

export interface Conditions {
  readonly conditions: readonly Condition[];
  /** Parts that no field of these records can be compared with, as they were written. */
  readonly unknown: readonly string[];
}

interface Context {
  readonly kind: DataKind;
  readonly words: QuestionWords;
  readonly vocabulary: Vocabulary;
  readonly nowMs: number;
}

/** The conditions of a question on records of a kind. */
export function conditionsOf(context: Context): Conditions {
  const { kind, words } = context;
  const conditions: Condition[] = [];
  const unknown: string[] = [];
  const exits = kind === 'investments' ? statusConditions(words) : { conditions: [], isExit: false };
  conditions.push(...exits.conditions);
  for (const read of [periodConditions, amountConditions, countryConditions]) {
    const found = read(context, exits.isExit);
    conditions.push(...found.conditions);
    unknown.push(...found.unknown);
  }
  if (kind === 'investments') conditions.push(...stageConditions(words));
  if (kind === 'team') conditions.push(...teamConditions(context));
  return { conditions, unknown };
}

function statusConditions(words: QuestionWords): { conditions: Condition[]; isExit: boolean } {
  const statuses: [string, RegExp][] = [
    ['exited', /exits?|exited|sold|realized|divested/],
    ['written_off', /written off|write offs?|failed|bankrupt|insolvent/],
    ['active', /(?:still |currently )?active/],
  ];
  const taken = statuses.flatMap(([status, pattern]) =>
    words.take(pattern).map(({ first }) => ({ status, first, isNegated: words.takeNegation(first) })),
  );
  for (const { first } of words.take(/inactive/)) taken.push({ status: 'active', first, isNegated: true });
  const of = (isNegated: boolean) =>
    taken.filter((each) => each.isNegated === isNegated).map(({ status }) => status);
  const wanted = of(false);
  const conditions = of(true).map(
    (status): Condition => ({
      label: `not ${plain(status)}`,
      isAdjective: true,
      shows: 'status',
      matches: (row) => tested(row, 'status', (value) => value !== status),
    }),
  );
  if (wanted.length > 0)
    conditions.push({
      label: wanted.map(plain).join(' or '),
      isAdjective: true,
      ...(wanted.length === 1 && { params: { status: wanted[0] ?? '' } }),
      ...(wanted.length > 1 && { shows: 'status' }),
      matches: (row) => tested(row, 'status', (value) => wanted.includes(value)),
    });
  return { conditions, isExit: wanted.length === 1 && wanted[0] === 'exited' };
}

function periodConditions({ kind, words, nowMs }: Context, isExit: boolean): Conditions {
  const periods = periodsOf(words, nowMs);
  if (periods.length === 0) return none;
  if (kind === 'sectors') return { conditions: [], unknown: periods.map(({ text }) => text) };
  const field = kind === 'team' ? 'joined_on' : isExit ? 'exited_on' : 'invested_on';
  const fits = (value: string, { from, to }: { from: string | undefined; to: string | undefined }) =>
    (from === undefined || value >= from) && (to === undefined || value <= to);
  // "In 2020 or 2022" is either of them, "after 2020 and before 2023" is both.
  const isEither = periods.every(({ from, to, isNegated }) => from && to && !isNegated);
  const [only] = periods;
  const params =
    field === 'invested_on' && periods.length === 1 && only && !only.isNegated
      ? { ...(only.from && { from: only.from }), ...(only.to && { to: only.to }) }
      : undefined;
  const condition: Condition = {
    label: periods
      .map(({ text, isNegated }) => (isNegated ? `not ${text}` : text))
      .join(isEither ? ' or ' : ' and '),
    ...(params && { params }),
    shows: field,
    matches: (row) =>
      row[field] === null
        ? false
        : tested(row, field, (value) =>
            isEither
              ? periods.some((period) => fits(value, period))
              : periods.every((period) => fits(value, period) !== period.isNegated),
          ),
  };
  return { conditions: [condition], unknown: [] };
}

function amountConditions({ kind, words }: Context): Conditions {
  const ranges = amountsOf(words);
  if (kind === 'team') return { conditions: [], unknown: ranges.map(({ text }) => text) };
  const field = kind === 'sectors' ? 'total_amount_minor' : 'amount_minor';
  const conditions = ranges.map(({ least, most, isStrict, currency, text }): Condition => {
    const minor = (value: number | undefined) => value && Math.round(value * 10 ** digitsOf(currency));
    const [low, high, edge] = [minor(least), minor(most), isStrict ? 1 : 0];
    return {
      label: /^\p{L}/u.test(text) ? text : `of ${text}`,
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
        if (typeof value !== 'number') return undefined;
        if (currency && row.currency !== currency) return undefined;
        return (low === undefined || value >= low + edge) && (high === undefined || value <= high - edge);
      },
    };
  });
  return { conditions, unknown: [] };
}

function countryConditions({ kind, words }: Context): Conditions {
  const found = countriesOf(words);
  // People have a town and no country.
  if (kind !== 'investments') return { conditions: [], unknown: found.map(({ text }) => text) };
  const conditions = found.map(({ codes, isNegated, text }): Condition => {
    const names = codes.map((code) => countryName(code).toLowerCase());
    const [code] = codes;
    const where = /^(?:in|from|of|based|located)\b/i.test(text)
      ? text
      : `in ${codes.map(countryName).join(' or ')}`;
    return {
      label: isNegated ? `not ${where}` : where,
      ...(codes.length === 1 && !isNegated && code && { params: { country: code } }),
      ...((codes.length > 1 || isNegated) && { shows: 'country' }),
      matches: (row) =>
        tested(
          row,
          'country',
          (value) =>
            (codes.includes(value.toUpperCase()) || names.includes(value.toLowerCase())) !== isNegated,
        ),
    };
  });
  return { conditions, unknown: [] };
}

function stageConditions(words: QuestionWords): Condition[] {
  const taken = words
    .take(/(?:in |of )?(?:the )?(pre seed|seed|series [a-g]|growth)(?: (?:stage|rounds?))?/)
    .map(({ groups: [stage = ''], first }) => ({ stage, isNegated: words.takeNegation(first) }));
  const stages = taken.filter(({ isNegated }) => !isNegated).map(({ stage }) => stage);
  const negated = taken.filter(({ isNegated }) => isNegated).map(({ stage }) => stage);
  const written = (stage: string) => stage.replace(/ ([a-g])$/, (letter) => letter.toUpperCase());
  const matching = (wanted: readonly string[], isNegated: boolean): Condition => ({
    label: `${isNegated ? 'not ' : ''}${wanted.map(written).join(' or ')}`,
    isAdjective: true,
    ...(wanted.length === 1 && !isNegated && { params: { stage: wanted[0]?.replace(' ', '_') ?? '' } }),
    ...((wanted.length > 1 || isNegated) && { shows: 'stage' }),
    matches: (row) =>
      tested(row, 'stage', (value) => wanted.includes(plain(value).toLowerCase()) !== isNegated),
  });
  return [
    ...(stages.length > 0 ? [matching(stages, false)] : []),
    ...(negated.length > 0 ? [matching(negated, true)] : []),
  ];
}

function teamConditions({ words, vocabulary }: Context): Condition[] {
  const conditions: Condition[] = [];
  const noDeals =
    /(?:with no|no|without(?: any)?|not any|have not any) (?:investments?|deals?)|(?:does not|do not|did not|doesnt|dont|never|not) (?:invest|invested)/;
  if (words.take(noDeals).length > 0)
    conditions.push({
      label: 'without investments',
      matches: ({ investment_ids: ids }) => (Array.isArray(ids) ? ids.length === 0 : undefined),
    });
  const roles = vocabulary.roles.toSorted((one, other) => other.length - one.length);
  for (const role of new Set([...roles, 'partner', 'principal', 'associate'])) {
    for (const { first } of words.take(new RegExp(`(${role})s?`))) {
      const isNegated = words.takeNegation(first);
      conditions.push({
        label: isNegated ? `who are not ${role}` : '',
        ...(!isNegated && { noun: `${role}s` }),
        shows: 'title',
        ...(!isNegated && { params: { role } }),
        // A venture partner is none of the partners, where roles are told.
        matches: (row) => tested(row, 'role', (value) => (plain(value).toLowerCase() === role) !== isNegated),
      });
    }
  }
  const towns = [...vocabulary.locations].sort((one, other) => other.length - one.length);
  const taken = [...towns, '\\p{L}+']
    .flatMap((town) =>
      words.take(
        new RegExp(`(?:based in|located in|in|from|at|near) (?:the )?(${town})`),
        isTown(words, towns),
      ),
    )
    .concat(towns.flatMap((town) => words.take(new RegExp(`(${town})`))))
    .sort((one, other) => one.first - other.first)
    .map((match) => ({ ...match, isNegated: words.takeNegation(match.first) }));
  const joined = taken.length > 1 && taken.every(({ isNegated }) => isNegated === taken[0]?.isNegated);
  for (const group of joined ? [taken] : taken.map((each) => [each])) {
    const isNegated = group[0]?.isNegated ?? false;
    const wanted = group.map(({ groups: [town = ''] }) => town);
    const names = group.map(({ next }) => words.writtenAt(next - 1)).join(' or ');
    conditions.push({
      label: `${isNegated ? 'not ' : ''}in ${names}`,
      ...(wanted.length === 1 && !isNegated && { params: { location: wanted[0] ?? '' } }),
      ...(wanted.length > 1 && { shows: 'location' }),
      matches: (row) =>
        tested(row, 'location', (value) => {
          const folded = ` ${termsOf(value)
            .map(({ word }) => word)
            .join(' ')} `;
          return wanted.some((town) => folded.includes(` ${town} `)) !== isNegated;
        }),
    });
  }
  return conditions;
}

/** A town is known, or a name with a capital. */
function isTown(words: QuestionWords, towns: readonly string[]) {
  return ({ groups: [town = ''], next }: { groups: readonly (string | undefined)[]; next: number }) =>
    towns.includes(town) || /^\p{Lu}/u.test(words.writtenAt(next - 1));
}

/** A condition that a record has all the words. */
export function textCondition(written: string): Condition {
  const stems = termsOf(written).map(({ stem }) => stem);
  return {
    label: `with “${written}”`,
    matches(row) {
      const texts = Object.entries(row).flatMap(([field, value]) =>
        typeof value === 'string' && !/(^|_)(id|slug|on|at)$|email|website/.test(field) ? [value] : [],
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

function plain(value: string): string {
  return value.replaceAll('_', ' ');
}

function digitsOf(currency = 'EUR'): number {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().maximumFractionDigits ?? 2;
}
