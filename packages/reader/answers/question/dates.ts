import { stemsOf } from '@octavo/data/terms';

const months = 'january february march april may june july august september october november december'.split(
  ' ',
);

const monthStems = months.flatMap((name) => stemsOf(name));

/** Returns true for the name of a month. */
export function isMonth(word: string): boolean {
  return months.includes(word.toLowerCase());
}

/** Returns true if a text has a day of the month that a stem names, written as in 2015-12-01. */
export function isMonthOf(stem: string, text: string): boolean {
  const month = monthStems.indexOf(stem) + 1;
  return month > 0 && new RegExp(`\\b\\d{4}[-/]${String(month).padStart(2, '0')}\\b`).test(text);
}
