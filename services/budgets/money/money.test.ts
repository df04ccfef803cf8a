import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  convert,
  decimalText,
  digitsOf,
  divideHalfEven,
  isCurrency,
  minorMax,
  parseDecimal,
  parseMoney,
  toMajor,
} from '@octavo/documents/values';
import fc from 'fast-check';
import { addDays, nextPeriod, parsePeriod, periodAt, periodKinds } from './periods.ts';

const minorOf = (given: number | string, currency = 'USD') => {
  const parsed = parseMoney(given, currency);
  return parsed.problem ?? parsed.minor;
};

test('amounts are numbers or decimal texts with the digits of their currency', () => {
  assert.equal(minorOf(12.5), 1250);
  assert.equal(minorOf('12.50'), 1250);
  assert.equal(minorOf(1e2), 10_000);
  assert.equal(minorOf('1e2'), 10_000);
  assert.equal(minorOf('9999999999999.99'), minorMax);
  assert.equal(minorOf(9_999_999_999_999.99), minorMax);
  assert.equal(minorOf(100, 'JPY'), 100);
  assert.equal(minorOf('1.234', 'KWD'), 1234);
  assert.equal(minorOf(-1), -100);
  for (const wrong of [
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '',
    '1,000',
    ' 1',
    '1.',
    '.5',
    '0x10',
    '+1',
    '١',
  ]) {
    assert.match(String(minorOf(wrong)), /must be a number/, String(wrong));
  }
  assert.match(String(minorOf(0.1 + 0.2)), /at most 2 digits/);
  assert.match(String(minorOf('1.5', 'JPY')), /whole number/);
  assert.match(String(minorOf('10000000000000')), /15 digits/);
  assert.match(String(minorOf(1e21)), /15 digits/);
});

test('currencies are those of ISO 4217, with its digits', () => {
  assert.deepEqual(
    ['USD', 'JPY', 'KWD', 'IQD', 'HUF', 'CLF', 'COP'].map((code) => [code, digitsOf(code)]),
    [
      ['USD', 2],
      ['JPY', 0],
      ['KWD', 3],
      ['IQD', 3],
      ['HUF', 2],
      ['CLF', 4],
      ['COP', 2],
    ],
  );
  assert.deepEqual(['USD', 'usd', 'ABC', 'EURO', ''].map(isCurrency), [true, false, false, false, false]);
});

test('every amount comes back exactly, as a number and as a text', () => {
  const currency = fc.constantFrom('USD', 'JPY', 'KWD', 'CLF');
  fc.assert(
    fc.property(fc.integer({ min: -minorMax, max: minorMax }), currency, (minor, code) => {
      assert.equal(minorOf(toMajor(minor, code), code), minor === 0 ? 0 : minor);
      assert.equal(minorOf(JSON.parse(JSON.stringify(toMajor(minor, code))), code), minor === 0 ? 0 : minor);
      assert.equal(minorOf(decimalText(minor, code), code), minor);
    }),
  );
});

test('conversions round once, half to even', () => {
  assert.deepEqual(
    [25n, 35n, 45n, -25n, -35n, 24n, 26n].map((units) => divideHalfEven(units, 10n)),
    [2n, 4n, 4n, -2n, -4n, 2n, 3n],
  );
  const rate = parseDecimal('0.0067');
  assert.ok(rate);
  assert.equal(convert({ minor: 1_000, rate, from: 'JPY', to: 'USD' }), 670n);
  const up = parseDecimal('149.25');
  assert.ok(up);
  assert.equal(convert({ minor: 1_010, rate: up, from: 'USD', to: 'JPY' }), 1_507n);
});

test('periods have names, and a first and a last day', () => {
  const names = (day: string) => periodKinds.map((kind) => periodAt(kind, day).name);
  assert.deepEqual(names('2026-02-14'), ['all', '2026-02-14', '2026-W07', '2026-02', '2026-Q1', '2026']);
  assert.deepEqual(periodAt('weekly', '2027-01-01'), {
    name: '2026-W53',
    from: '2026-12-28',
    to: '2027-01-03',
  });
  assert.deepEqual(periodAt('monthly', '2028-02-03'), {
    name: '2028-02',
    from: '2028-02-01',
    to: '2028-02-29',
  });
  assert.deepEqual(periodAt('quarterly', '2026-12-31'), {
    name: '2026-Q4',
    from: '2026-10-01',
    to: '2026-12-31',
  });
  for (const [kind, name] of [
    ['monthly', '2026-13'],
    ['weekly', '2026-W54'],
    ['weekly', '2025-W53'],
    ['daily', '2026-02-30'],
    ['yearly', '26'],
    ['monthly', '2026-Q1'],
    ['quarterly', '2026-Q5'],
    ['none', ''],
  ] as const) {
    assert.equal(parsePeriod(kind, name), undefined, name);
  }
});

test('each period is found by its name, and the next one begins the day after it', () => {
  const days = fc.integer({ min: 0, max: 60_000 }).map((days) => addDays('1990-01-01', days));
  fc.assert(
    fc.property(days, fc.constantFrom(...periodKinds), (day, kind) => {
      const period = periodAt(kind, day);
      assert.deepEqual(parsePeriod(kind, period.name), period);
      if (period.from === null || period.to === null) return;
      assert.ok(period.from <= day && day <= period.to);
      assert.equal(nextPeriod(kind, period).from, addDays(period.to, 1));
    }),
  );
});
