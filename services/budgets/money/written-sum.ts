import {
  compactText,
  decimalText,
  digitsOf,
  divideHalfEven,
  parseDecimal,
  type ReadAmount,
  type Reading,
  readAmount,
} from '@octavo/documents/values';

/** An exact number. The divisor is positive. */
interface Fraction {
  readonly dividend: bigint;
  readonly divisor: bigint;
}

const operators = /(?<=[^-+*/])([-+*/])/;

/**
 * Reads an amount, or a sum of amounts as a pocket calculator takes it: `12+3`, `3*4.50`, `90/4-1,50`. What is divided or multiplied is
 * rounded once at the end, half to even, to the digits of the currency.
 */
export function readSum(written: string, currency: string, reading: Reading = {}): ReadAmount {
  const compact = compactText(written)
    .replace(/[×·⋅∙]/g, '*')
    .replace(/[÷∕⁄]/g, '/');
  // The sign before the first number, and a minus after the last one as banks write it, belong to the number.
  if (!/[^-+*/(][-+*/]./.test(compact)) return readAmount(written, currency, reading);
  let sum = zero;
  let product: Fraction | undefined;
  let operator = '+';
  let isNegative = false;
  for (const part of compact.split(operators)) {
    if (/^[-+*/]$/.test(part)) {
      operator = part;
      continue;
    }
    const read = readAmount(part, currency, reading);
    if (read.problem !== undefined) return read;
    const value = fractionOf(read.text);
    if (operator === '*' && product) product = multiply(product, value);
    else if (operator === '/' && product) {
      if (value.dividend === 0n) return { problem: 'must not be divided by 0' };
      product = divide(product, value);
    } else {
      if (product) sum = add(sum, product, isNegative);
      product = value;
      isNegative = operator === '-';
    }
  }
  if (product) sum = add(sum, product, isNegative);
  return { text: textOf(sum, currency, /[*/]/.test(compact)) };
}

const zero: Fraction = { dividend: 0n, divisor: 1n };

function fractionOf(text: string): Fraction {
  const { units, scale } = parseDecimal(text) ?? { units: 0n, scale: 0 };
  return { dividend: units, divisor: 10n ** BigInt(scale) };
}

function add(one: Fraction, other: Fraction, isNegative: boolean): Fraction {
  const added = isNegative ? -other.dividend : other.dividend;
  return {
    dividend: one.dividend * other.divisor + added * one.divisor,
    divisor: one.divisor * other.divisor,
  };
}

function multiply(one: Fraction, other: Fraction): Fraction {
  return { dividend: one.dividend * other.dividend, divisor: one.divisor * other.divisor };
}

function divide(one: Fraction, other: Fraction): Fraction {
  const sign = other.dividend < 0n ? -1n : 1n;
  return {
    dividend: one.dividend * other.divisor * sign,
    divisor: one.divisor * other.dividend * sign,
  };
}

/** Mere additions are not rounded: the rules refuse digits that the currency does not have. */
function textOf({ dividend, divisor }: Fraction, currency: string, isRounded: boolean): string {
  if (isRounded)
    return decimalText(divideHalfEven(dividend * 10n ** BigInt(digitsOf(currency)), divisor), currency);
  const places = String(divisor).length - 1;
  const digits = String(dividend < 0n ? -dividend : dividend).padStart(places + 1, '0');
  const text =
    places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, '');
  return dividend < 0n ? `-${text}` : text;
}
