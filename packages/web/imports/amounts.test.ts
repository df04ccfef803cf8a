import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DecimalSurvey, directionOf, readMoney } from './amounts.ts';

const decided = (amounts: string[], currency = 'EUR') => {
  const survey = new DecimalSurvey(currency);
  for (const amount of amounts) survey.look(amount);
  return survey.end();
};

test('the decimal sign of a file is decided once, from all of its amounts', () => {
  assert.equal(decided(['2.000', '3,50']).decimal, ',');
  assert.equal(decided(['2,000', '3.50']).decimal, '.');
  assert.equal(decided(['2,345']).decimal, '.');
  assert.equal(decided(['2,345']).unclear, undefined);
  assert.equal(decided(['2,340', '7']).unclear, '2,340');
  assert.equal(decided(['1.000', '2,5', '2.5']).unclear, '1.000');
  assert.equal(decided(['2,5', '2.5']).unclear, undefined);
  assert.equal(decided(['1.250'], 'JPY').unclear, undefined);
});

test('an amount has zeros, units and words that change nothing', () => {
  const same = ['7.5', '7.50000', '$7.50', 'US$ 7.50', '7.50 USD', '+7.50', '7,50', '7.50 CR', '7.50 DR'];
  for (const text of same) {
    const read = readMoney(text, 'USD', '.');
    assert.equal(read.problem === undefined && read.minor, 750, text);
  }
  assert.equal(readMoney('7.505', 'USD', '.').problem !== undefined, true);
  const signs = [
    ['100,00 kr.', 'DKK', 10_000],
    ['Rs. 500', 'INR', 50_000],
    ['1 500円', 'JPY', 1_500],
    ['Fr. 12.50', 'CHF', 1_250],
    ['12,50 zł', 'PLN', 1_250],
    ['5,-', 'EUR', 500],
    ['-5,--', 'EUR', -500],
    ['12 руб.', 'RUB', 1_200],
    ['(3,00)', 'EUR', -300],
    ["1'250.50", 'CHF', 125_050],
    ['1,00,000.00', 'INR', 10_000_000],
  ] as const;
  for (const [text, currency, minor] of signs) {
    const read = readMoney(text, currency, ',');
    assert.equal(read.problem ?? read.minor, minor, text);
  }
  const read = readMoney('3.10 DR', 'USD', '.');
  assert.equal(read.problem ?? read.direction, 'out');
});

test('what is written in a locale is read again', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -999_999_999_999, max: 999_999_999_999 }),
      fc.constantFrom('en', 'de', 'fr', 'de-CH'),
      (minor, locale) => {
        const text = new Intl.NumberFormat(locale, { minimumFractionDigits: 2 }).format(minor / 100);
        const read = readMoney(text, 'EUR', decided([text, '0'], 'EUR').decimal);
        assert.equal(read.problem ?? read.minor, minor === 0 ? 0 : minor, text);
      },
    ),
  );
});

test('words say whether money goes out or comes in', () => {
  for (const word of ['Af', 'D', 'DBIT', 'Soll', 'débit', 'DR', '出金'])
    assert.equal(directionOf(word), 'out', word);
  for (const word of ['Bij', 'K', 'CRDT', 'Haben', 'crédit', 'CR', '入金'])
    assert.equal(directionOf(word), 'in', word);
  assert.equal(directionOf('card'), undefined);
});
