import type { QuestionWords } from './words.ts';

/** Days of a question, both of them included. */
export interface Period {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly isNegated: boolean;
  /** As it was written. */
  readonly text: string;
}

const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const month =
  '(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)';
// A year that is no amount.
const year =
  '(?:19|20)\\d\\d(?! (?:eur|euros?|usd|dollars?|gbp|pounds?|chf|francs?|k|thousand|million|m|mn|bn|billion) )';
const date = `(?:\\d{4}-\\d\\d-\\d\\d|(?:${month} (?:of )?|q[1-4] (?:of )?)?${year})`;
const begins = 'since|from|starting(?: in)?|as of|in or after';
const after = 'after|later than|following';
const ends = 'until|till|up to|by|through|in or before';
const before = 'before|prior to|earlier than';

/** The times in a question, by its words. */
export function periodsOf(words: QuestionWords, nowMs: number): Period[] {
  const periods: Period[] = [];
  const pairs = words.take(
    new RegExp(`(?:(between|from|in|during|of) )?(${date}) (and|to|until|till|through) (${date})`),
    // "In 2020 and 2022" is two years.
    ({ groups: [how, , joint] }) => how === 'between' || joint !== 'and',
  );
  const add = (match: { text: string; first: number }, from?: string, to?: string) =>
    periods.push({ from, to, isNegated: words.takeNegation(match.first), text: match.text });
  for (const match of pairs) add(match, daysOf(match.groups[1])?.from, daysOf(match.groups[3])?.to);
  for (const match of words.take(
    new RegExp(`(?:(${begins}|${after}|${ends}|${before}|in|during|of|on|for|year) )?(${date})`),
  )) {
    const [how = 'in', written] = match.groups;
    const days = daysOf(written);
    if (!days) continue;
    const is = (pattern: string) => new RegExp(`^(?:${pattern})$`).test(how);
    // "From 2024" without an end means that year or later only after a word such as "since".
    if (how === 'from') add(match, days.from, days.to);
    else if (is(begins)) add(match, days.from);
    else if (is(after)) add(match, nextDay(days.to));
    else if (is(ends)) add(match, undefined, days.to);
    else if (is(before)) add(match, undefined, dayBefore(days.from));
    else add(match, days.from, days.to);
  }
  const thisYear = new Date(nowMs).getUTCFullYear();
  for (const match of words.take(/(?:in )?(?:the )?(this|last|previous|past) year/)) {
    const days = daysOf(String(match.groups[0] === 'this' ? thisYear : thisYear - 1));
    add(match, days?.from, days?.to);
  }
  for (const match of words.take(
    /(?:in |over |during )?(?:the )?(?:last|past) (\d+|two|three|four|five) (years|months)/,
  )) {
    const [count = '', unit] = match.groups;
    const since = new Date(nowMs);
    const number = Number(count) || ['two', 'three', 'four', 'five'].indexOf(count) + 2;
    since.setUTCMonth(since.getUTCMonth() - number * (unit === 'years' ? 12 : 1));
    add(match, since.toISOString().slice(0, 10));
  }
  return periods;
}

/** The first and the last day of a date, a month, a quarter or a year. */
function daysOf(text = ''): { from: string; to: string } | undefined {
  if (/^\d{4}-\d\d-\d\d$/.test(text))
    return Number.isNaN(Date.parse(text)) ? undefined : { from: text, to: text };
  const parts = text.split(' ');
  const inYear = parts.at(-1);
  const unit = parts.length > 1 ? (parts[0] ?? '') : '';
  const quarter = /^q([1-4])$/.exec(unit)?.[1];
  const monthIndex = months.indexOf(unit.slice(0, 3));
  const first = quarter ? Number(quarter) * 3 - 2 : monthIndex >= 0 ? monthIndex + 1 : 1;
  const last = quarter ? first + 2 : monthIndex >= 0 ? first : 12;
  const end = new Date(Date.UTC(Number(inYear), last, 0)).toISOString().slice(0, 10);
  return { from: `${inYear}-${String(first).padStart(2, '0')}-01`, to: end };
}

function nextDay(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
}

function dayBefore(day: string): string {
  return new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
}
