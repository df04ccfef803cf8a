import type { Term } from '@octavo/data/terms';

const abbreviationMin = 3;

/** A column of a row, or a line of a record, with its value: `country` and `Norway` of "country: Norway; year: 1952". */
interface Field {
  readonly name: string;
  readonly value: string;
}

/** The names and values of a row, as in `Name: value; Other: value`. */
export function fieldsOf(row: string): Field[] {
  const fields = row.matchAll(/(?:^|[;\n])[ \t]*([^:=;\n]{1,60}?)[ \t]*[:=](?=\s|$)[ \t]*([^;\n]*)/g);
  return Array.from(fields, ([, name = '', value = '']) => ({ name, value: value.trim() }));
}

/** Stems of the words of a question that columns abbreviate: `population` by `pop`, `per capita` by `gdpPercap`. */
export function abbreviatedIn(row: string, asked: readonly Term[]): string[] {
  const parts = fieldsOf(row).flatMap(({ name }) =>
    name
      .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
      .toLowerCase()
      .split(/[^\p{L}]+/u)
      .filter((part) => part.length >= abbreviationMin),
  );
  return asked.flatMap((term, at) => {
    const next = asked[at + 1];
    if (parts.some((part) => isAbbreviation(part, term.word))) return [term.stem];
    const isOfBoth = (part: string) =>
      next !== undefined && part.length > term.word.length && isAbbreviation(part, term.word + next.word);
    return next && parts.some(isOfBoth) ? [term.stem, next.stem] : [];
  });
}

function isAbbreviation(part: string, word: string): boolean {
  return word.startsWith(part) && (word.length > part.length + 1 || word === part);
}
