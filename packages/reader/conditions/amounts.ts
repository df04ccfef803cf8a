import type { QuestionWords } from './words.ts';

/** Bound of an amount in units of the currency, as a question has it. */
export interface AmountBound {
  readonly least: number | undefined;
  readonly most: number | undefined;
  /** True if the bound itself is not meant. */
  readonly isStrict: boolean;
  /** Currency code, if one is named. */
  readonly currency: string | undefined;
  readonly text: string;
}

const currencies: Readonly<Record<string, string>> = {
  eur: 'EUR',
  euro: 'EUR',
  euros: 'EUR',
  usd: 'USD',
  dollars: 'USD',
  gbp: 'GBP',
  pounds: 'GBP',
};
const scales: Readonly<Record<string, number>> = {
  k: 1e3,
  thousand: 1e3,
  m: 1e6,
  million: 1e6,
  bn: 1e9,
  billion: 1e9,
};
const currency = `(?:${Object.keys(currencies).join('|')})`;
const amountPattern = new RegExp(
  `(more than|over|above|at least|from|less than|under|below|at most|up to) (?:(${currency}) )?(\\d+(?:\\.\\d+)?)(?: (${Object.keys(scales).join('|')}))?(?: (${currency}))?`,
);
/** A bare number is an amount only from here on. */
const bareMin = 10_000;

/** The amount of money that a question sets as a bound. */
export function amountOf(words: QuestionWords): AmountBound | undefined {
  const [match] = words.take(
    amountPattern,
    ({ groups: [, before, digits, scale, after] }) =>
      (before ?? scale ?? after) !== undefined || Number(digits) >= bareMin,
  );
  if (!match) return undefined;
  const [how = '', before, digits, scale = '', after] = match.groups;
  const value = Number(digits) * (scales[scale] ?? 1);
  const isLeast = /more|over|above|at least|from/.test(how);
  return {
    least: isLeast ? value : undefined,
    most: isLeast ? undefined : value,
    isStrict: !/at least|from|at most|up to/.test(how),
    currency: currencies[before ?? after ?? ''],
    text: match.text,
  };
}
