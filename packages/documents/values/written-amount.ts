import { digitsOf, signsInUse } from './currencies.ts';

/** A decimal string as the API takes it, or a problem in words that follow the name of the field. */
export type ReadAmount =
  | { readonly text: string; readonly problem?: undefined }
  | { readonly problem: string };

const decimalSigns = ['.', ','] as const;
export type DecimalSign = (typeof decimalSigns)[number];

export interface Reading {
  /** The decimal sign, where a file has only one: `1,234` is then clear. */
  readonly decimal?: DecimalSign;
  /** The sign between thousands, where a reader's locale has one. */
  readonly group?: DecimalSign | undefined;
}

const minus = /[\u2010-\u2015\u2212\uFE63\uFF0D]/g;
/** Spaces of all kinds, which also separate thousands, and marks of the direction. */
const space = /[\s\u061C\u200E\u200F]/g;
const signed = /^([-+]?)(\(?)([-+]?)(.*?)(\)?)([-+]?)$/u;
const withUnit = /^((?:[\p{L}\p{Sc}]+\.?)?)([-+]?)([\d.,'’]*)((?:[\p{L}\p{Sc}]+\.?)?)$/u;
/** `5,-`: a dash in place of zeros. */
const dashes = /(\d)[.,]-{1,2}(?=\D*$)/u;
/** Thousands, or the groups of two digits of India. */
const grouped = /^\d{1,3}(?:\D\d{2,3})*\D\d{3}$/;

/**
 * Reads an amount as people and banks write it: `4,20`, `1,234.50`, `$12`, `(3.00)`, `12.50-`, `−5 €`. A comma or point that could be
 * either sign, as in `1,234`, is a problem unless the decimal sign is known.
 */
export function readAmount(written: string, currency: string, reading: Reading = {}): ReadAmount {
  const [, before, open, inner, body = '', close, after] =
    signed.exec(compactText(written).replace(dashes, '$1')) ?? [];
  const [, prefix = '', afterPrefix, digits = '', suffix = ''] = withUnit.exec(body) ?? [];
  const signs = [before, inner, afterPrefix, after].filter(Boolean);
  const isWhole = Boolean(open) === Boolean(close) && signs.length <= (open ? 0 : 1);
  if (!isWhole || !/\d/.test(digits)) return { problem: amountRule(reading) };
  const foreign = [prefix, suffix].find((unit) => unit !== '' && !isUnitOf(currency, unit));
  if (foreign !== undefined) return { problem: `must be in ${currency}, not ${foreign}` };
  const read = readDigits(digits, digitsOf(currency), reading);
  if (read.problem !== undefined) return read;
  return open || signs[0] === '-' ? { text: `-${read.text}` } : read;
}

/** The problem of a text that is no amount, in words that follow the name of the field. */
export function amountRule({ decimal = '.' }: Reading): string {
  return `must be a number such as 12${decimal}50`;
}

/** The decimal sign that an amount shows; undefined where it shows none, `either` where it could be both, as in `1,234`. `places` are the digits of its currency. */
export function decimalSignIn(written: string, places: number): DecimalSign | 'either' | undefined {
  const digits = /[\d.,'’]*\d[\d.,'’]*/.exec(compactText(written))?.[0] ?? '';
  const last = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  if (last === -1) return undefined;
  const [sign, other] = digits[last] === '.' ? (['.', ','] as const) : ([',', '.'] as const);
  const [whole, fraction] = [digits.slice(0, last), digits.slice(last + 1)];
  if (whole.includes(sign)) return other;
  if (fraction.length !== 3 || !/^[1-9]\d{0,2}$/.test(whole)) return sign;
  return places === 0 ? other : 'either';
}

/** Reads a number without a unit, such as a rate: `1,0825`. */
export function readNumber(written: string, reading: Reading = {}): ReadAmount {
  const compact = written.replace(space, '');
  return /^[\d.,'’]*\d[\d.,'’]*$/.test(compact)
    ? readDigits(compact, Number.POSITIVE_INFINITY, { ...reading, group: undefined })
    : { problem: `must be a number such as 1${reading.decimal ?? '.'}0825` };
}

/** The text without white space, with plain operators: `12 − 3` becomes `12-3`. */
export function compactText(written: string): string {
  return written.replace(space, '').replace(minus, '-');
}

/** Digits with separators. `places` is how many digits after the decimal sign make sense. */
function readDigits(written: string, places: number, reading: Reading): ReadAmount {
  const { decimal, group } = reading;
  const digits = written.replace(/['’]/g, '');
  const hasMarks = digits !== written;
  const last = Math.max(digits.lastIndexOf('.'), digits.lastIndexOf(','));
  if (last === -1) return { text: digits };
  const sign = digits[last] as '.' | ',';
  const [whole, fraction] = [digits.slice(0, last), digits.slice(last + 1)];
  const isMixed = whole.includes(sign === '.' ? ',' : '.');
  const isRepeated = whole.includes(sign);
  if (isMixed && isRepeated) return { problem: amountRule(reading) };
  if (isRepeated)
    return grouped.test(digits) ? { text: ungrouped(digits) } : { problem: amountRule(reading) };
  if (isMixed && !grouped.test(whole)) return { problem: amountRule(reading) };
  const asDecimal = { text: `${ungrouped(whole) || '0'}${fraction === '' ? '' : `.${fraction}`}` };
  const isClear = isMixed || hasMarks || fraction.length !== 3 || !/^[1-9]\d{0,2}$/.test(whole);
  if (isClear) return asDecimal;
  if (places === 0) return { text: ungrouped(digits) };
  if (sign === decimal) return asDecimal;
  if (sign === group) return { text: ungrouped(digits) };
  // Our own forms and files show three digits after a point.
  if (decimal === undefined && sign === '.' && places >= 3) return asDecimal;
  if (decimal !== undefined && places < 3) return { text: ungrouped(digits) };
  const problem = `could mean ${whole}${fraction} or ${whole}.${fraction}: write it without a separator of thousands`;
  return { problem };
}

function ungrouped(digits: string): string {
  return digits.replace(/[.,]/g, '');
}

/** True for the code of a currency and its signs, in any case. Several currencies have the same sign. */
export function isUnitOf(currency: string, unit: string): boolean {
  return unitsOf(currency).has(unit.toUpperCase().replace(/\.$/, ''));
}

const units = new Map<string, ReadonlySet<string>>();

function unitsOf(currency: string): ReadonlySet<string> {
  return units.getOrInsertComputed(currency, () => {
    const signOf = (currencyDisplay: 'symbol' | 'narrowSymbol') =>
      new Intl.NumberFormat('en', { style: 'currency', currency, currencyDisplay })
        .formatToParts(0)
        .find(({ type }) => type === 'currency')?.value ?? currency;
    const signs = [currency, signOf('symbol'), signOf('narrowSymbol'), ...signsInUse(currency)];
    return new Set(signs.map((unit) => unit.toUpperCase().replace(/\.$/, '')));
  });
}
