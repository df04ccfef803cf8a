import { type RawJson, rawNumber } from '@octavo/core/text';
import { digitsOf } from './currencies.ts';

/** The largest amount: 15 digits, such as 9,999,999,999,999.99 in USD. */
export const minorMax = 999_999_999_999_999;

/** Amount in requests: a JSON number, or a decimal text. */
export type DecimalInput = number | string;

/** A decimal number as an integer and the number of its digits after the point: 12.50 is `{ units: 1250n, scale: 2 }`. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

const tooLong = 'must have at most 15 digits';
const number = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const decimal = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/;

/** The exact value of a number or of a decimal text. Undefined if it is neither: `NaN`, `1,000`, an empty text. */
export function parseDecimal(given: DecimalInput): Decimal | undefined {
  const match = decimal.exec(typeof given === 'number' ? String(given) : given);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const units = BigInt(`${sign}${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  return scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : { units, scale };
}

export type ParsedMoney =
  | { readonly minor: number; readonly problem?: undefined }
  | { readonly problem: string };

/** An amount in minor units of a currency, or a problem such as "must be a number". */
export function parseMoney(given: DecimalInput, currency: string): ParsedMoney {
  const parsed = parseDecimal(given);
  if (!parsed) return { problem: number.test(String(given)) ? tooLong : 'must be a number, such as 12.50' };
  const digits = digitsOf(currency);
  if (parsed.scale > digits) return { problem: tooManyDigits(digits, currency) };
  const minor = parsed.units * 10n ** BigInt(digits - parsed.scale);
  if (minor > minorMax || minor < -minorMax) return { problem: tooLong };
  return { minor: Number(minor) };
}

function tooManyDigits(digits: number, currency: string): string {
  if (digits === 0) return `must be a whole number in ${currency}`;
  return `must have at most ${digits} digits after the decimal point in ${currency}`;
}

/** The amount as a number, which prints as the exact decimal: 1250 in USD is 12.5. */
export function toMajor(minor: number, currency: string): number {
  return minor / 10 ** digitsOf(currency);
}

/** The sum of amounts as a number. One of more than 15 digits is written in JSON digit by digit. */
export function toExact(minor: bigint, currency: string): number | RawJson {
  const number = Number(minor);
  if (Math.abs(number) <= minorMax) return toMajor(number, currency);
  const text = decimalText(minor, currency);
  return rawNumber(text.includes('.') ? text.replace(/\.?0+$/, '') : text);
}

/** The sum of amounts in minor units, as a number if that is exact. */
export function toMinor(minor: bigint): number | bigint {
  const number = Number(minor);
  return Number.isSafeInteger(number) ? number : minor;
}

/** The amount as a decimal text with all digits of the currency: 1250 in USD is `12.50`. */
export function decimalText(minor: number | bigint, currency: string): string {
  const digits = digitsOf(currency);
  const sign = minor < 0 ? '-' : '';
  const text = String(minor)
    .slice(sign.length)
    .padStart(digits + 1, '0');
  if (digits === 0) return sign + text;
  return `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** A conversion: the paid amount, the rate (units of `to` for one unit of `from`), and both currencies. */
interface Conversion {
  readonly minor: number;
  readonly rate: Decimal;
  readonly from: string;
  readonly to: string;
}

/** The amount in the other currency, rounded once, half to even. It may be larger than {@link minorMax}. */
export function convert({ minor, rate, from, to }: Conversion): bigint {
  const scale = digitsOf(from) + rate.scale - digitsOf(to);
  const units = BigInt(minor) * rate.units;
  return scale <= 0 ? units * 10n ** BigInt(-scale) : divideHalfEven(units, 10n ** BigInt(scale));
}

/** The quotient, rounded half to even. The divisor is positive. */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const sign = dividend < 0n ? -1n : 1n;
  const absolute = dividend * sign;
  const quotient = absolute / divisor;
  const twice = (absolute % divisor) * 2n;
  const isUp = twice > divisor || (twice === divisor && quotient % 2n === 1n);
  return sign * (isUp ? quotient + 1n : quotient);
}
