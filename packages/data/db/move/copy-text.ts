import { AppError } from '@octavo/core';
import type { Batch, Value } from './side.ts';
import type { MovedColumn, MovedTable } from './tables.ts';

/** Character that takes the place of U+0000, if that is wanted. */
const replacement = '\ufffd';
const special = /[\0\\\b\f\n\r\t\v]/;
const specials = /[\0\\\b\f\n\r\t\v]/g;
const escapes: Readonly<Record<string, string>> = {
  '\0': replacement,
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/**
 * Writes rows as the text format of COPY (PostgreSQL manual, "COPY"), as PostgreSQL itself would write them, except for the digits of
 * numbers with a fraction.
 */
export class CopyText {
  readonly #table: MovedTable;
  readonly #replacesNul: boolean;

  constructor(table: MovedTable, { replacesNul }: { readonly replacesNul: boolean }) {
    this.#table = table;
    this.#replacesNul = replacesNul;
  }

  /** Lines that PostgreSQL reads. */
  lines(batch: Batch): string {
    return this.#write(batch, textOf);
  }

  /** Lines for a digest, in which numbers with a fraction are their eight bytes, since databases differ in how they write digits. */
  digestLines(batch: Batch): string {
    return this.#write(batch, (value, column) =>
      column.type === 'double precision' && value !== null ? bytesOf(Number(value)) : textOf(value),
    );
  }

  #write(batch: Batch, text: (value: Value, column: MovedColumn) => string): string {
    const { columns } = this.#table;
    let lines = '';
    for (const row of batch) {
      for (let index = 0; index < columns.length; index++) {
        const value = row[index] as Value;
        if (typeof value === 'string' && !this.#replacesNul && value.includes('\0'))
          throw this.#nul(row, columns[index] as MovedColumn);
        lines += (index === 0 ? '' : '\t') + text(value, columns[index] as MovedColumn);
      }
      lines += '\n';
    }
    return lines;
  }

  #nul(row: readonly Value[], column: MovedColumn): AppError {
    const { name, key, columns } = this.#table;
    const place = key.map((part) => `${part.name} ${String(row[columns.indexOf(part)])}`).join(', ');
    return new AppError(
      'invalid_input',
      `${column.name} of table ${name} holds the character U+0000 in the row with ${place.replaceAll('\0', '')}, which PostgreSQL refuses. Change that text where it was written, or add --replace-nul to put U+FFFD in its place in all rows`,
    );
  }
}

function textOf(value: Value): string {
  if (value === null) return '\\N';
  if (typeof value === 'string')
    return special.test(value) ? value.replace(specials, (found) => escapes[found] as string) : value;
  if (value instanceof Uint8Array) return `\\\\x${Buffer.from(value).toString('hex')}`;
  return String(value);
}

const bytes = Buffer.alloc(8);

/** Adding 0 makes the negative zero, which SQLite does not keep, the usual one. */
function bytesOf(value: number): string {
  bytes.writeDoubleBE(value + 0);
  return bytes.toString('hex');
}
