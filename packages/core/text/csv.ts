/** One record of RFC 4180, with CRLF. Its texts are those of {@link csvCell}. */
export function csvRecord(cells: readonly (string | number | null)[], isSafe = true): string {
  return `${cells.map((cell) => (typeof cell === 'string' ? csvCell(cell, isSafe) : cell)).join(',')}\r\n`;
}

/** Begins CSV that a person downloads: without it, spreadsheets on Windows show wrong letters. Programs get CSV without. */
export const byteOrderMark = '\uFEFF';

/** The pieces of a text with a {@link byteOrderMark} before them. */
export async function* withMark(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let mark = byteOrderMark;
  for await (const chunk of chunks) {
    yield mark + chunk;
    mark = '';
  }
}

/** A text in quotes where it needs them. Unless `isSafe` is false, it gets an apostrophe in front if a spreadsheet would take it for a formula. */
export function csvCell(text: string, isSafe = true): string {
  const safe = isSafe && startsFormula.test(text) && !plainNumber.test(text) ? `'${text}` : text;
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// A semicolon separates cells where a spreadsheet writes numbers with a comma.
const needsQuotes = /[",;\r\n]/;

// With apostrophes before it, too: reading removes exactly one.
const startsFormula = /^'*[=+\-@＝＋－＠\t\r\n]/;
const plainNumber = /^[+-]?\d+(\.\d+)?$/;
const formulaGuard = /^'(?='*[=+\-@＝＋－＠\t\r\n])/;

/** The text of a cell without the apostrophe that {@link csvRecord} puts in front of formulas. */
export function unguarded(cell: string): string {
  return cell.replace(formulaGuard, '');
}

/** A record of a CSV text, or why there is none at that line. Lines are counted from 1. */
export type CsvRecord =
  | { readonly line: number; readonly cells: readonly string[]; readonly problem?: undefined }
  | { readonly line: number; readonly problem: string };

/**
 * Splits CSV (RFC 4180) into records as it arrives, and skips empty lines. A record that is malformed or too long is reported with the
 * number of its line, and reading goes on at the next line: libraries stop there, or take what follows an open quote for one cell.
 */
export class CsvScanner {
  readonly #charactersMax: number;
  #separator: string | undefined;
  #text = '';
  #line = 1;
  #isFirst = true;
  /** The rest of a line that was too long is still to come. */
  #skips = false;

  /** `charactersMax` bounds a record: without it, an unclosed quote would swallow the rest of the text. */
  constructor(charactersMax = 64 * 1024, separator?: string) {
    this.#charactersMax = charactersMax;
    this.#separator = separator;
  }

  /** The separator of cells, unless it was given: what a first line `sep=;` says, else the one that the first line has most of. */
  get separator(): string {
    return this.#separator ?? ',';
  }

  /** The records that are complete so far. */
  push(text: string): CsvRecord[] {
    this.#text += this.#isFirst ? text.replace(/^\uFEFF/, '') : text;
    if (text !== '') this.#isFirst = false;
    return this.#take(false);
  }

  /** The last record of the text. */
  end(): CsvRecord[] {
    return this.#take(true);
  }

  #take(isEnd: boolean): CsvRecord[] {
    this.#separator ??= separatorOf(this.#text, isEnd || this.#text.length > this.#charactersMax);
    if (this.#separator === undefined) return [];
    const records: CsvRecord[] = [];
    let start = this.#skipped(0);
    if (this.#line === 1) start = Math.max(start, this.#instruction());
    while (start < this.#text.length) {
      const taken = this.#record(start, isEnd);
      if (!taken) break;
      const line = this.#line;
      this.#line += taken.lines;
      start = this.#skipped(taken.end);
      if (taken.problem !== undefined) records.push({ line, problem: taken.problem });
      else if (taken.cells.length > 1 || taken.cells[0]?.trim() !== '')
        records.push({ line, cells: taken.cells });
    }
    this.#text = this.#text.slice(start);
    return records;
  }

  /** The position after a first line such as `sep=;`. */
  #instruction(): number {
    const length = instruction.exec(this.#text)?.[0].length ?? 0;
    if (length > 0) this.#line++;
    return length;
  }

  /** The position after a line whose rest is skipped. */
  #skipped(start: number): number {
    if (!this.#skips) return start;
    const newline = this.#text.indexOf('\n', start);
    this.#skips = newline === -1;
    return newline === -1 ? this.#text.length : newline + 1;
  }

  /** The record at a position, with the position after it; nothing if its end has not arrived. */
  #record(start: number, isEnd: boolean): Taken | undefined {
    const text = this.#text;
    const newline = text.indexOf('\n', start);
    const lineEnd = newline === -1 ? text.length : newline;
    if (lineEnd - start > this.#charactersMax) {
      this.#skips = true;
      const problem = `has more than ${this.#charactersMax.toLocaleString('en')} characters`;
      return { cells: [], problem, lines: 1, end: start };
    }
    if (newline === -1 && !isEnd) return undefined;
    const line = text.slice(start, text[lineEnd - 1] === '\r' ? lineEnd - 1 : lineEnd);
    const afterLine = Math.min(lineEnd + 1, text.length);
    if (!line.includes('"')) return { cells: line.split(this.separator), lines: 1, end: afterLine };
    const quoted = this.#quotedRecord(start, isEnd);
    if (quoted === 'incomplete') return undefined;
    if (quoted) return quoted;
    const cells = looselyQuoted(line, this.separator);
    if (cells) return { cells, lines: 1, end: afterLine };
    return { cells: [], problem: 'has a quote that is not closed properly', lines: 1, end: afterLine };
  }

  #quotedRecord(start: number, isEnd: boolean): Taken | 'incomplete' | undefined {
    const text = this.#text;
    const cells: string[] = [];
    const incomplete = !isEnd && text.length - start < this.#charactersMax ? 'incomplete' : undefined;
    for (let at = start; ; ) {
      if (text[at] === '"') {
        const close = closingQuote(text, at);
        if (close === undefined || (close + 1 === text.length && !isEnd)) return incomplete;
        if (close - start > this.#charactersMax) return undefined;
        cells.push(text.slice(at + 1, close).replaceAll('""', '"'));
        at = close + 1;
      } else {
        const end = this.#endOfCell(at);
        if (end === text.length && !isEnd) return incomplete;
        cells.push(text.slice(at, text[end - 1] === '\r' && text[end] === '\n' ? end - 1 : end));
        at = end;
      }
      if (text[at] === this.separator) {
        at++;
        continue;
      }
      if (text[at] === '\r' && at + 1 === text.length && !isEnd) return incomplete;
      if (text[at] === '\r' && (text[at + 1] === '\n' || at + 1 === text.length)) at++;
      if (at < text.length && text[at] !== '\n') return undefined;
      const end = Math.min(at + 1, text.length);
      return { cells, lines: countLines(text, start, end), end };
    }
  }

  #endOfCell(at: number): number {
    const newline = this.#text.indexOf('\n', at);
    const lineEnd = newline === -1 ? this.#text.length : newline;
    const separator = this.#text.indexOf(this.separator, at);
    return separator === -1 || separator > lineEnd ? lineEnd : separator;
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

/** The cells of a line whose quotes are not doubled, as in `"The "Sun" inn",5`: one closes before a separator alone. */
function looselyQuoted(line: string, separator: string): string[] | undefined {
  const cells: string[] = [];
  for (let at = 0; at <= line.length; ) {
    const isQuoted = line[at] === '"';
    const end = isQuoted ? line.indexOf(`"${separator}`, at + 1) : line.indexOf(separator, at);
    const isLast = end === -1;
    if (isQuoted && isLast && (!line.endsWith('"') || line.length === at + 1)) return undefined;
    const stop = isLast ? line.length - (isQuoted ? 1 : 0) : end;
    cells.push(isQuoted ? line.slice(at + 1, stop).replaceAll('""', '"') : line.slice(at, stop));
    if (isLast) return cells;
    at = end + (isQuoted ? 2 : 1);
  }
  return cells;
}

function countLines(text: string, start: number, end: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', start); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) lines++;
  return Math.max(1, lines);
}

/** A first line of spreadsheets that names the separator. */
const instruction = /^"?sep=([^\r\n])"?\r?\n/i;

export const separators = [',', ';', '\t', '|'] as const;

/** The separator that the first line names or has most of; nothing if the line has not arrived whole. */
function separatorOf(text: string, isWhole: boolean): string | undefined {
  const newline = text.indexOf('\n');
  if (newline === -1 && !isWhole) return undefined;
  const [, named] = instruction.exec(text) ?? [];
  return named ?? mostOf([text.slice(0, newline === -1 ? text.length : newline)]);
}

/** The separator that gives most of the first lines the same width, the wider the better. */
export function separatorIn(head: string): string {
  const [, named] = instruction.exec(head) ?? [];
  return named ?? mostOf(head.split('\n', 100));
}

function mostOf(lines: readonly string[]): string {
  const scores = separators.map((separator) => {
    const widths = new Map<number, number>();
    for (const line of lines) {
      const width = line.replace(/"[^"]*"/g, '').split(separator).length;
      if (width > 1) widths.set(width, (widths.get(width) ?? 0) + 1);
    }
    const worth = Math.max(0, ...[...widths].map(([width, count]) => (width - 1) * count));
    return { separator, worth };
  });
  const best = scores.reduce((best, each) => (each.worth > best.worth ? each : best));
  return best.separator;
}
