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
