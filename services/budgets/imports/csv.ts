import {
  type FileParser,
  type ParsedRow,
  parseRow,
  type ReadOptions,
  type RowField,
  rowFields,
} from './row.ts';

/** Without a closing quote, a record would swallow the rest of the file. No expense is longer. */
const recordCharactersMax = 64 * 1024;
const bom = '\uFEFF';

/** A record of a file, or why there is none at that line. */
type CsvRecord =
  | { readonly line: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly problem: string };

/**
 * Splits CSV (RFC 4180) into records as it arrives. A record that is malformed is reported with the number of its line, and reading
 * goes on at the next line: libraries stop there, or take what follows an open quote for one cell.
 */
export class CsvScanner {
  readonly #delimiter: string;
  #text = '';
  #line = 1;

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  push(text: string): CsvRecord[] {
    this.#text += text;
    return this.#take(false);
  }

  end(): CsvRecord[] {
    return this.#take(true);
  }

  #take(isEnd: boolean): CsvRecord[] {
    const records: CsvRecord[] = [];
    let start = 0;
    while (start < this.#text.length) {
      const taken = this.#record(start, isEnd);
      if (!taken) break;
      const line = this.#line;
      this.#line += taken.lines;
      start = taken.end;
      if (taken.problem !== undefined) records.push({ line, problem: taken.problem });
      else if (taken.cells.length > 1 || taken.cells[0]?.trim() !== '')
        records.push({ line, cells: taken.cells });
    }
    this.#text = this.#text.slice(start);
    return records;
  }

  /** The record at a position, with the position after it; nothing if its end has not arrived. */
  #record(start: number, isEnd: boolean): Taken | undefined {
    const text = this.#text;
    const newline = text.indexOf('\n', start);
    if (newline === -1 && !isEnd && text.length - start < recordCharactersMax) return undefined;
    const lineEnd = newline === -1 ? text.length : newline;
    const line = text.slice(start, text[lineEnd - 1] === '\r' ? lineEnd - 1 : lineEnd);
    const afterLine = Math.min(lineEnd + 1, text.length);
    if (!line.includes('"')) return { cells: line.split(this.#delimiter), lines: 1, end: afterLine };
    const quoted = this.#quotedRecord(start, isEnd);
    if (quoted === 'incomplete') return undefined;
    return (
      quoted ?? { cells: [], problem: 'has a quote that is not closed properly', lines: 1, end: afterLine }
    );
  }

  #quotedRecord(start: number, isEnd: boolean): Taken | 'incomplete' | undefined {
    const text = this.#text;
    const cells: string[] = [];
    for (let at = start; ; ) {
      if (text[at] === '"') {
        const close = closingQuote(text, at);
        if (close === undefined || (close + 1 === text.length && !isEnd)) {
          return !isEnd && text.length - start < recordCharactersMax ? 'incomplete' : undefined;
        }
        if (close - start > recordCharactersMax) return undefined;
        cells.push(text.slice(at + 1, close).replaceAll('""', '"'));
        at = close + 1;
      } else {
        const end = this.#endOfCell(at);
        cells.push(text.slice(at, text[end - 1] === '\r' && text[end] === '\n' ? end - 1 : end));
        at = end;
      }
      if (text[at] === this.#delimiter) {
        at++;
        continue;
      }
      if (text[at] === '\r' && (text[at + 1] === '\n' || at + 1 === text.length)) at++;
      if (at < text.length && text[at] !== '\n') return undefined;
      const end = Math.min(at + 1, text.length);
      return { cells, lines: countLines(text, start, end), end };
    }
  }

  #endOfCell(at: number): number {
    const newline = this.#text.indexOf('\n', at);
    const lineEnd = newline === -1 ? this.#text.length : newline;
    const delimiter = this.#text.indexOf(this.#delimiter, at);
    return delimiter === -1 || delimiter > lineEnd ? lineEnd : delimiter;
  }
}

interface Taken {
  readonly cells: readonly string[];
  readonly problem?: string;
  readonly lines: number;
  readonly end: number;
}

/** The quote that closes the one at a position; two in a row stand for one. */
function closingQuote(text: string, open: number): number | undefined {
  for (let at = open + 1; ; at += 2) {
    at = text.indexOf('"', at);
    if (at === -1) return undefined;
    if (text[at + 1] !== '"') return at;
  }
}

function countLines(text: string, start: number, end: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) lines++;
  return Math.max(1, lines);
}

/** What separates the cells of a header: whichever of comma, semicolon and tab it has most of. */
export function delimiterOf(header: string): string {
  const outside = header.replace(/"[^"]*"/g, '');
  const counted = [',', ';', '\t'].map((sign) => [sign, outside.split(sign).length] as const);
  return counted.reduce((best, each) => (each[1] > best[1] ? each : best))[0];
}

/** The column of each field. */
export type Columns = Readonly<Partial<Record<RowField, number>>>;

/** What is wrong with the columns of a file, as a message about the mapping. */
export type ColumnProblem = { readonly problem: string };

/** Finds the columns of a header: those that the mapping names, else those with our own names, in any case. */
export function columnsOf(
  header: readonly string[],
  mapping: ReadOptions['mapping'],
): Columns | ColumnProblem {
  const names = header.map((name) => name.trim().replace(bom, ''));
  const columns: Partial<Record<RowField, number>> = {};
  for (const field of rowFields) {
    const mapped = mapping[field];
    const index =
      mapped === undefined
        ? names.findIndex((name) => name.toLowerCase() === field.toLowerCase())
        : names.indexOf(mapped.trim());
    if (mapped !== undefined && index === -1)
      return { problem: `names the column ${mapped}, which the file does not have` };
    if (index !== -1) columns[field] = index;
  }
  const missing = (['spentOn', 'description', 'amount'] as const).filter(
    (field) => columns[field] === undefined,
  );
  if (missing.length === 0) return columns;
  return {
    problem: `must name the column of ${missing.join(', ')}; the file has ${names.join(', ').slice(0, 500)}`,
  };
}

export class CsvParser implements FileParser {
  readonly #options: ReadOptions;
  #scanner: CsvScanner | undefined;
  #head = '';
  #columns: Columns | undefined;
  #width = 0;
  #hasDecimalComma = false;

  constructor(options: ReadOptions) {
    this.#options = options;
  }

  push(text: string): ParsedRow[] {
    if (this.#scanner) return this.#rows(this.#scanner.push(text));
    this.#head += text;
    return this.#head.includes('\n') ? this.#begin() : [];
  }

  end(): ParsedRow[] {
    const begun = this.#scanner ? [] : this.#begin();
    return [...begun, ...this.#rows(this.#scanner?.end() ?? [])];
  }

  #begin(): ParsedRow[] {
    const delimiter = delimiterOf(this.#head.split('\n', 1)[0] ?? '');
    this.#hasDecimalComma = delimiter !== ',';
    this.#scanner = new CsvScanner(delimiter);
    return this.#rows(this.#scanner.push(this.#head));
  }

  #rows(records: readonly CsvRecord[]): ParsedRow[] {
    const rows: ParsedRow[] = [];
    for (const record of records) {
      if ('problem' in record)
        rows.push({ line: record.line, error: { field: 'line', message: record.problem } });
      else if (this.#columns) rows.push(this.#row(record.line, record.cells, this.#columns));
      else this.#readHeader(record.cells);
    }
    return rows;
  }

  /** The upload was refused if this fails, so it does not. */
  #readHeader(cells: readonly string[]): void {
    const columns = columnsOf(cells, this.#options.mapping);
    if ('problem' in columns) throw new Error(`mapping ${columns.problem}`);
    this.#columns = columns as Columns;
    this.#width = cells.length;
  }

  #row(line: number, cells: readonly string[], columns: Columns): ParsedRow {
    if (cells.length !== this.#width) {
      const message = `has ${cells.length} cells where the header has ${this.#width}`;
      return { line, error: { field: 'line', message } };
    }
    const texts = Object.fromEntries(
      Object.entries(columns).map(([field, index]) => [field, unguarded(cells[index] ?? '')]),
    );
    if (this.#hasDecimalComma)
      texts.amount = (texts.amount ?? '').replace(/^(\s*-?\d+),(\d+)(\s*)$/, '$1.$2$3');
    return parseRow(line, texts, this.#options);
  }
}

/** Without the apostrophe that an export puts before what a spreadsheet would take for a formula. */
function unguarded(cell: string): string {
  return /^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell;
}
