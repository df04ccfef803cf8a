import { CsvScanner, unguarded } from '@octavo/core/text';
import { folded, widthOf } from '@octavo/web/imports';
import type { RawRow, Reading, RowField, RowSource } from './reading.ts';
import { isTypeColumn } from './refund-types.ts';

/** No expense is longer. */
const recordCharactersMax = 64 * 1024;

/** Splits the table of a CSV file into rows. */
export class CsvSource implements RowSource {
  readonly #reading: Reading;
  readonly #scanner: CsvScanner;
  readonly #header: readonly string[];
  /** The places of columns with the type of a row. */
  readonly #types: readonly number[];
  /** Rows that may be among those that are left out at the end. */
  #held: RawRow[] = [];

  constructor(reading: Reading) {
    this.#reading = reading;
    this.#scanner = new CsvScanner(recordCharactersMax, reading.separator);
    this.#header = reading.names.map(folded);
    this.#types = reading.names.flatMap((name, place) => (isTypeColumn(name) ? place : []));
  }

  push(text: string): RawRow[] {
    this.#held.push(...this.#rows(this.#scanner.push(text)));
    return this.#held.splice(0, this.#held.length - this.#reading.skipEnd);
  }

  end(): RawRow[] {
    return [...this.push(''), ...this.#last()];
  }

  #last(): RawRow[] {
    const rows = [...this.#held, ...this.#rows(this.#scanner.end())];
    const end = Math.max(0, rows.length - this.#reading.skipEnd);
    return rows.map((row, index) => (index < end ? row : { line: row.line, isOutside: true }));
  }

  #rows(records: ReturnType<CsvScanner['push']>): RawRow[] {
    const { header, skippedLines } = this.#reading;
    const first = header ?? skippedLines.at(-1) ?? 0;
    return records.flatMap((record): RawRow[] => {
      const { line, problem } = record;
      if (line <= first) return [];
      if (problem !== undefined) return [{ line, error: { field: 'line', message: problem } }];
      return [this.#row(line, record.cells)];
    });
  }

  #row(line: number, cells: readonly string[]): RawRow {
    const { columns, names, header, fallbacks } = this.#reading;
    if (header !== null && this.#isHeader(cells)) return { line, isOutside: true };
    const width = widthOf(cells);
    if (width > names.length) {
      const message = `has ${width} cells, but the header names ${names.length} columns`;
      return { line, error: { field: 'line', message } };
    }
    const texts: Partial<Record<RowField | 'type', string>> = {};
    for (const [field, places] of Object.entries(columns)) {
      const given = places.map((place) => unguarded(cells[place] ?? '').trim()).filter((text) => text !== '');
      texts[field as RowField] = given.join(' ');
    }
    texts.type = this.#types.map((place) => cells[place] ?? '').join(' ');
    const fallback = fallbacks.find((place) => cells[place]?.trim());
    if (!texts.description && fallback !== undefined) texts.description = cells[fallback];
    return { line, texts };
  }

  #isHeader(cells: readonly string[]): boolean {
    return this.#header.every((name, place) => folded(cells[place] ?? '') === name);
  }
}
