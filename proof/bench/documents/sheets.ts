import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { type Judged, textOf } from './public.ts';

/** Letters of values that are not texts: months, days of the week, halves of a day, exponents and currencies. */
const lettersOfValues =
  /Jan|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)|AM|PM|E|EUR|USD|kr/gi;

/** True for a value that is not written as it is stored: percents, money, decimals, groups, days and times. */
function isFormatted(value: string): boolean {
  return /\d/.test(value) && !/^-?\d+$/.test(value) && !/\p{L}/u.test(value.replace(lettersOfValues, ''));
}

/** Values that a spreadsheet program shows of workbooks (`NAME.xlsx.N.csv`), and those of them that stand in the texts. */
export async function shownValues(folder: string, half: boolean): Promise<Judged[]> {
  const names = readdirSync(folder);
  const books = names.filter((name) => name.endsWith('.xlsx') && names.includes(`${name}.0.csv`));
  const judged: Judged[] = [];
  for (const [index, book] of books.entries()) {
    if (half && index % 2 === 1) continue;
    const read = await textOf(book, readFileSync(join(folder, book)));
    const text = 'text' in read ? read.text : '';
    const left = Map.groupBy(
      text.split(/[\n;]|: /).map((part) => part.trim()),
      (part) => part,
    );
    const shown = names
      .filter((name) => name.startsWith(`${book}.`))
      .flatMap((name) => valuesOf(readFileSync(join(folder, name))))
      .filter(isFormatted);
    const missing = shown.filter((value) => left.get(value)?.pop() === undefined);
    const about = { group: 'values as a sheet shows them', kind: 'xlsx', file: book };
    judged.push({ ...about, isRight: true, weight: shown.length - missing.length, said: '' });
    if (missing.length > 0)
      judged.push({
        ...about,
        isRight: false,
        weight: missing.length,
        said: missing.slice(0, 40).join(' | '),
      });
  }
  return judged;
}

function valuesOf(bytes: Uint8Array): string[] {
  const rows: string[][] = parse(new TextDecoder('windows-1252').decode(bytes), {
    relax_column_count: true,
    relax_quotes: true,
  });
  return rows.flat().map((value) => value.trim());
}
