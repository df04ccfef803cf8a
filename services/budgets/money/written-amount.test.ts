import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAmount, readNumber } from '@octavo/documents/values';
import { signsOf } from '@octavo/web/html';
import { readSum } from './written-sum.ts';

const read = (written: string, currency = 'USD', decimal?: '.' | ',') => {
  const result = readAmount(written, currency, decimal === undefined ? {} : { decimal });
  return result.problem ?? result.text;
};

test('amounts are read as people and banks write them', () => {
  for (const [written, expected] of [
    ['12', '12'],
    ['12.50', '12.50'],
    ['4,20', '4.20'],
    ['-12,50', '-12.50'],
    ['1,234.50', '1234.50'],
    ['1.234,50', '1234.50'],
    ['-1,250.00', '-1250.00'],
    ['1,234,567', '1234567'],
    ['1.234.567', '1234567'],
    ['1,00,000.50', '100000.50'],
    ["1'234.50", '1234.50'],
    ['1’234', '1234'],
    ['1 234,50', '1234.50'],
    ['1\u00A0234,50', '1234.50'],
    ['1\u202F234.50', '1234.50'],
    ['$12', '12'],
    ['$ 12', '12'],
    ['-$4.50', '-4.50'],
    ['$-4.50', '-4.50'],
    ['USD 4.50', '4.50'],
    ['4.50 usd', '4.50'],
    ['(3.00)', '-3.00'],
    ['($3.00)', '-3.00'],
    ['3.00-', '-3.00'],
    ['\u22124.50', '-4.50'],
    ['\u20134,50', '-4.50'],
    ['+4.50', '4.50'],
    ['.50', '0.50'],
    ['5.', '5'],
    ['0.125', '0.125'],
    ['1234.567', '1234.567'],
  ] as const)
    assert.equal(read(written), expected, written);
  assert.deepEqual(
    [read('€5', 'EUR'), read('5€', 'EUR'), read('£5', 'GBP'), read('¥500', 'JPY')],
    ['5', '5', '5', '500'],
  );
});

test('what could mean two things is asked, unless the decimal sign is known', () => {
  for (const written of ['1,234', '1.234', '-1,234', '$12,345'])
    assert.match(read(written), /could mean/, written);
  assert.equal(read('1,234', 'USD', '.'), '1234');
  assert.equal(read('1.234', 'USD', ','), '1234');
  assert.equal(read('1.234', 'USD', '.'), '1.234');
  assert.equal(read('1,234', 'JPY'), '1234');
  // With three digits in the currency, a file with the other sign is no help.
  assert.equal(read('1.234', 'KWD'), '1.234');
  assert.match(read('1,234', 'KWD'), /could mean 1234 or 1\.234/);
  assert.match(read('1,234', 'KWD', '.'), /could mean/);
  assert.equal(read('1,234', 'KWD', ','), '1.234');
});

test('what is no amount is refused', () => {
  for (const written of [
    '',
    '-',
    'abc',
    '1,23,4',
    '1.2.3',
    '1,234.5.6',
    '1.5,000,0',
    '--5',
    '(5',
    '5)',
    '(-5)',
    '-5-',
    '1e2',
    '٣',
    '5 5 x',
  ])
    assert.match(read(written), /must be/, written);
  assert.equal(read('€5'), 'must be in USD, not €');
  assert.equal(read('5 EUR'), 'must be in USD, not EUR');
});

test('rates are numbers without a unit', () => {
  const rate = (written: string) =>
    readNumber(written).problem ?? (readNumber(written) as { text: string }).text;
  assert.deepEqual(['1.0825', '1,0825', '0,5', '149.250', '1 200,5'].map(rate), [
    '1.0825',
    '1.0825',
    '0.5',
    '149.250',
    '1200.5',
  ]);
  assert.match(rate('1,082'), /could mean/);
  assert.match(rate('-1'), /must be a number/);
});

test('what could mean two things is read as the locale writes numbers', () => {
  const inLocale = (written: string, locale: string, currency = 'USD') => {
    const result = readAmount(written, currency, signsOf(locale));
    return result.problem ?? result.text;
  };
  assert.equal(inLocale('1,234', 'en-US'), '1234');
  assert.equal(inLocale('1.234', 'de'), '1234');
  assert.equal(inLocale('1,234', 'de', 'KWD'), '1.234');
  assert.equal(inLocale('1,234', 'en-GB', 'KWD'), '1234');
  assert.equal(inLocale('1.234', 'fr', 'EUR'), '1234');
  // What is clear means the same everywhere.
  for (const locale of ['en', 'de', 'fr', 'de-CH', 'en-IN']) assert.equal(inLocale('4,20', locale), '4.20');
  assert.equal(inLocale('abc', 'de'), 'must be a number such as 12,50');
});

test('sums are added up exactly, and rounded once where they are divided', () => {
  const sum = (written: string, currency = 'USD', locale?: string) => {
    const result = readSum(written, currency, locale === undefined ? {} : signsOf(locale));
    return result.problem ?? result.text;
  };
  for (const [written, expected] of [
    ['12+3', '15'],
    ['3*4.50', '13.50'],
    ['3 × 4,50', '13.50'],
    ['$12 + $3.20', '15.2'],
    ['0.1+0.2', '0.3'],
    ['10\u2212 2,50', '7.5'],
    ['2+3*4', '14.00'],
    ['20-4/8*2', '19.00'],
    ['100/3', '33.33'],
    ['1÷8', '0.12'],
    ['3/8', '0.38'],
    ['-5+2', '-3'],
    ['999999999999.99+0.01', '1000000000000'],
    ['12', '12'],
    ['(3.00)', '-3.00'],
    ['3.00-', '-3.00'],
    ['1.234,50 + 1,234.50', '2469'],
  ] as const)
    assert.equal(sum(written), expected, written);
  assert.equal(sum('100/3', 'JPY'), '33');
  assert.equal(sum('1.000+1', 'EUR', 'de'), '1001');
  assert.equal(sum('1/0'), 'must not be divided by 0');
  assert.equal(sum('5+€3'), 'must be in USD, not €');
  assert.match(sum('1,000+1'), /could mean/);
  for (const written of ['+', '*3', '3**2', '3+*2', '1+alert(1)', '2^3', '(1+2)*3', '1e3+1'])
    assert.match(sum(written), /must be/, written);
});
