import type { QuestionWords } from './words.ts';

/** Bounds of an amount in units of the currency, as a question has them. */
export interface AmountRange {
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
  dollar: 'USD',
  dollars: 'USD',
  gbp: 'GBP',
  pound: 'GBP',
  pounds: 'GBP',
  chf: 'CHF',
  francs: 'CHF',
};
const scales: Readonly<Record<string, number>> = {
  k: 1e3,
  thousand: 1e3,
  m: 1e6,
  mn: 1e6,
  mio: 1e6,
  million: 1e6,
  millions: 1e6,
  bn: 1e9,
  billion: 1e9,
};
const currency = `(?:${Object.keys(currencies).join('|')})`;
const scale = `(?:${Object.keys(scales).join('|')})`;
const number =
  '(?:\\d+(?:\\.\\d+)?|half a|one|two|three|four|five|six|seven|eight|nine|ten|a(?= (?:million|thousand|billion)))';
const amount = `(?:(?:a |the )?(${currency}) )?(${number})(?: (${scale}))?(?: (?:of )?(${currency}))?`;
const over = 'more than|over|above|exceeding|greater than|larger than|bigger than|higher than';
const least = 'at least|no less than|not less than|minimum|from';
const under = 'less than|under|below|smaller than|lower than';
const most = 'at most|up to|no more than|not more than|not over|not above|maximum|maximum of';
const written: Readonly<Record<string, number>> = {
  'half a': 0.5,
  a: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
};
/** A bare number is an amount only from here on. */
const bareMin = 10_000;

/** The amounts of money in a question. */
export function amountsOf(words: QuestionWords): AmountRange[] {
  const ranges: AmountRange[] = [];
  const isMoney = (groups: readonly (string | undefined)[]) =>
    groups.some((each) => each !== undefined && (each in currencies || each in scales)) ||
    Number(groups[1]) >= bareMin;
  for (const { groups, text } of words.take(
    new RegExp(`(?:between|from) ${amount} (?:and|to) ${amount}`),
    ({ groups }) => isMoney(groups.slice(4)),
  )) {
    const [one, two] = [groups.slice(0, 4), groups.slice(4)];
    const unit = currencyOf(two) ?? currencyOf(one);
    const first = amountOf([one[0], one[1], one[2] ?? two[2], one[3]]);
    ranges.push({ least: first, most: amountOf(two), isStrict: false, currency: unit, text });
  }
  const single = new RegExp(
    `(?:(${over}|${most}|${least}|${under}|of|worth|exactly) )${amount}( or more| or less| or above| or below)?`,
  );
  for (const { groups, text } of words.take(single, ({ groups }) => isMoney(groups.slice(1, 5)))) {
    const [how = '', ...rest] = groups;
    const value = amountOf(rest);
    const is = (pattern: string) => new RegExp(`^(?:${pattern})$`).test(how);
    const [isMore, isLess] = [/more|above/.test(rest[4] ?? ''), /less|below/.test(rest[4] ?? '')];
    const isUp = isMore || is(over) || is(least);
    const isDown = isLess || is(under) || is(most);
    ranges.push({
      least: isUp || !isDown ? value : undefined,
      most: isDown || !isUp ? value : undefined,
      isStrict: is(over) || is(under),
      currency: currencyOf(rest),
      text,
    });
  }
  return ranges;
}

function currencyOf(groups: readonly (string | undefined)[]): string | undefined {
  return currencies[groups[0] ?? groups[3] ?? ''];
}

function amountOf(groups: readonly (string | undefined)[]): number {
  const [, digits = '', unit = ''] = groups;
  return (written[digits] ?? Number(digits)) * (scales[unit] ?? 1);
}
