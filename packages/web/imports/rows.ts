import { CsvScanner, separatorIn, unguarded } from '@octavo/core/text';
import { hasCrLines } from '@octavo/documents/letters';
import { layoutOf, widthOf } from './layout.ts';

/** Reason why a file cannot be imported, in words for its owner. */
export class ImportProblem extends Error {}

/** A row of a file. `values` are texts by the names of fields in CSV, and the object as it is in JSON. */
export interface FileRow {
  /** Counted from 1, without a header. */
  readonly number: number;
  /** The first line of a record of CSV, counted from 1; the number of the row in JSON. */
  readonly line: number;
  readonly values: Readonly<Record<string, unknown>>;
  /** Reason why the row cannot be read, to be read after "The row". */
  readonly problem?: string;
  /** Cells for which there is no column. */
  readonly rest?: readonly string[];
}

/** Reads a file of rows piece by piece. Both functions throw {@link ImportProblem}. */
export interface RowParser {
  /** The rows that are complete so far. */
  push(text: string): FileRow[];
  /** The remaining rows. */
  end(): FileRow[];
}

export type FieldColumn = readonly [field: string, column: number];

export interface RowParserOptions {
  /** The fields of CSV, with the position of the column that each is in. May throw {@link ImportProblem}. */
  readonly fieldsOf: (header: readonly string[]) => readonly FieldColumn[];
  /** True for the names of columns of CSV: lines above the first such line are left out. By default the first line names them. */
  readonly isHeader?: ((cells: readonly string[]) => boolean) | undefined;
  /** Name of the list in a JSON file whose list is inside an object: `{"posts": [`. */
  readonly listName?: string;
  /** Number of rows that a file may have; unlimited by default. */
  readonly rowsMax?: number;
}

/** Length of a row that is kept until its end has arrived. */
const rowCharactersMax = 300_000;
/** Number of columns that the first line of a file may name. */
const columnsMax = 1_000;
const jsonDepthMax = 32;
/** Text in which the table begins, and the lines above it. */
const headCharacters = 64 * 1024;
const linesAboveMax = 50;

/** The format of a file, by its name: `.json`, `.jsonl` and `.ndjson` are JSON. */
export function formatOf(name: string): 'csv' | 'json' {
  return /\.(json|jsonl|ndjson)$/i.test(name) ? 'json' : 'csv';
}

/** CSV has a first line with the names of columns. JSON is a list, an object that begins with a list, or one object per line. */
export function createRowParser(format: 'csv' | 'json', options: RowParserOptions): RowParser {
  const parser = format === 'csv' ? new CsvRows(options) : new JsonRows(options);
  const { rowsMax = Number.POSITIVE_INFINITY } = options;
  const bounded = (rows: FileRow[]) => {
    if ((rows.at(-1)?.number ?? 0) <= rowsMax) return rows;
    throw new ImportProblem(`The file has more than ${rowsMax.toLocaleString('en')} rows.`);
  };
  return { push: (text) => bounded(parser.push(text)), end: () => bounded(parser.end()) };
}

/** The table of a CSV file. */
export interface Table {
  /** The names of its columns; none if they cannot be read. */
  readonly header: readonly string[];
  /** Number of lines above them, which are left out. */
  readonly above: number;
}

/** The table in the text that a CSV file begins with, as a parser with this `isHeader` finds it. */
export function tableOf(text: string, isHeader?: RowParserOptions['isHeader']): Table {
  const { first, header } = foundIn(withNewlines(text).slice(0, headCharacters), isHeader);
  return { header, above: first - 1 };
}

interface Found {
  /** The first line of the table, counted from 1. */
  readonly first: number;
  readonly header: readonly string[];
  /** Undefined where the first line tells it. */
  readonly separator: string | undefined;
}

function foundIn(head: string, isHeader: RowParserOptions['isHeader']): Found {
  const found = [separatorIn(head), undefined].flatMap((separator) => {
    const scanner = new CsvScanner(rowCharactersMax, separator);
    const records = [...scanner.push(head), ...scanner.end()].slice(0, linesAboveMax + 1);
    const fitting =
      isHeader && records.find((each) => each.problem === undefined && isHeader(namesOf(each.cells)));
    const record = fitting ?? (separator === undefined ? records[0] : undefined);
    if (!record) return [];
    const header = record.problem === undefined ? namesOf(record.cells) : [];
    return [{ first: record.line, header, separator, isKnown: fitting !== undefined }];
  });
  const [best = { first: 1, header: [], separator: undefined, isKnown: false }] = found;
  return best.isKnown || !isHeader ? best : (tableBelow(head) ?? best);
}

/** A table with names that are not known, below lines with at most half as many cells. */
function tableBelow(head: string): Found | undefined {
  const layout = layoutOf(head, { isHeader: () => false });
  if (!layout || layout.header === null || layout.header === 1) return undefined;
  const { header, names, separator } = layout;
  const scanner = new CsvScanner(rowCharactersMax, separator);
  const above = [...scanner.push(head), ...scanner.end()].filter(({ line }) => line < header);
  const isTitle = (record: (typeof above)[number]) =>
    record.problem === undefined && widthOf(record.cells) * 2 <= names.length;
  return above.every(isTitle) ? { first: header, header: names, separator } : undefined;
}

function withNewlines(head: string): string {
  return hasCrLines(head) ? head.replaceAll('\r', '\n') : head;
}

function namesOf(cells: readonly string[]): string[] {
  return cells.map((name) => name.trim());
}

/** The rows of a CSV file. */
export class CsvRows implements RowParser {
  readonly #fieldsOf: RowParserOptions['fieldsOf'];
  readonly #isHeader: RowParserOptions['isHeader'];
  readonly #charactersMax: number;
  /** The text in which the table is looked for. */
  #head = '';
  #scanner: CsvScanner | undefined;
  #first = 1;
  #hasCrLines: boolean | undefined;
  #fields: readonly FieldColumn[] | undefined;
  #width = 0;
  #number = 0;

  constructor(
    { fieldsOf, isHeader }: Pick<RowParserOptions, 'fieldsOf' | 'isHeader'>,
    charactersMax = rowCharactersMax,
  ) {
    this.#fieldsOf = fieldsOf;
    this.#isHeader = isHeader;
    this.#charactersMax = charactersMax;
  }

  push(text: string): FileRow[] {
    if (text !== '') this.#hasCrLines ??= hasCrLines(text);
    const lines = this.#hasCrLines ? text.replaceAll('\r', '\n') : text;
    if (this.#scanner) return this.#rows(this.#scanner.push(lines));
    this.#head += lines;
    return this.#isHeader && this.#head.length < headCharacters ? [] : this.#begin();
  }

  end(): FileRow[] {
    const begun = this.#scanner ? [] : this.#begin();
    const rows = [...begun, ...this.#rows(this.#scanner?.end() ?? [])];
    if (!this.#fields) throw new ImportProblem('The file is empty.');
    return rows;
  }

  #begin(): FileRow[] {
    const head = this.#head;
    if (head === '') return [];
    this.#head = '';
    const { first, separator } = this.#isHeader
      ? foundIn(head.slice(0, headCharacters), this.#isHeader)
      : { first: 1, separator: undefined };
    this.#first = first;
    this.#scanner = new CsvScanner(this.#charactersMax, separator);
    return this.#rows(this.#scanner.push(head));
  }

  #rows(records: ReturnType<CsvScanner['push']>): FileRow[] {
    const rows: FileRow[] = [];
    for (const record of records) {
      const { line, problem } = record;
      if (line < this.#first) continue;
      if (!this.#fields) this.#fields = this.#readHeader(problem ?? namesOf(record.cells));
      else if (problem !== undefined) rows.push({ number: ++this.#number, line, values: {}, problem });
      else rows.push(this.#row(line, record.cells, this.#fields));
    }
    return rows;
  }

  #readHeader(header: string | readonly string[]): readonly FieldColumn[] {
    if (typeof header === 'string') throw new ImportProblem(`The first line of the file ${header}.`);
    if (header.length > columnsMax) {
      const most = columnsMax.toLocaleString('en');
      throw new ImportProblem(`The first line of the file names more than ${most} columns.`);
    }
    this.#width = header.length;
    return this.#fieldsOf(header);
  }

  #row(line: number, cells: readonly string[], fields: readonly FieldColumn[]): FileRow {
    const values: Record<string, string> = {};
    for (const [field, column] of fields) {
      values[field] = unguarded(cells[column] ?? '');
    }
    const number = ++this.#number;
    const width = this.#width;
    // Cells that are missing at the end are empty, and empty ones too many are nothing.
    const filled = widthOf(cells);
    if (filled <= width) return { number, line, values };
    const problem = `has ${filled} cells, but the first line names ${width} columns`;
    return { number, line, values, problem, rest: cells.slice(width) };
  }
}

/** The rows of a JSON file. Before its first row, and between rows, only white space is kept. */
class JsonRows implements RowParser {
  readonly #list: RegExp;
  /** The start of a file whose list is in an object, without white space. */
  readonly #opening: string;
  #elements: ListElements | Lines | undefined;
  #rest = '';
  #number = 0;

  constructor({ listName }: RowParserOptions) {
    const inside = listName === undefined ? '' : `(?:\\{\\s*"${listName}"\\s*:\\s*)?`;
    this.#list = new RegExp(`^\\s*${inside}\\[`);
    this.#opening = listName === undefined ? '[' : `{"${listName}":[`;
  }

  push(text: string): FileRow[] {
    return this.#take(text, false).map((element) => this.#row(element));
  }

  end(): FileRow[] {
    const last = this.#take('', true);
    return [...last, ...(this.#elements?.end() ?? [])].map((element) => this.#row(element));
  }

  #take(text: string, isEnd: boolean): string[] {
    if (this.#elements) return this.#elements.push(text);
    this.#rest += this.#rest === '' ? text.replace(/^\uFEFF/, '') : text;
    const elements = this.#begin(isEnd);
    if (!elements) {
      checkLength(this.#rest.length);
      return [];
    }
    this.#elements = elements;
    const rest = this.#rest;
    this.#rest = '';
    return elements.push(rest);
  }

  #begin(isEnd: boolean): ListElements | Lines | undefined {
    const list = this.#list.exec(this.#rest);
    if (list) {
      this.#rest = this.#rest.slice(list[0].length);
      return new ListElements();
    }
    const compact = this.#rest.slice(0, 100).replace(/\s/g, '');
    if (compact.startsWith('{') && (isEnd || !this.#opening.startsWith(compact))) return new Lines();
    if (isEnd && compact === '') throw new ImportProblem('The file is empty.');
    if (isEnd || /^\s*[^\s{[]/.test(this.#rest)) throw new ImportProblem('The file is not a JSON list.');
    return undefined;
  }

  #row(element: string): FileRow {
    const number = ++this.#number;
    const values = parseElement(element);
    const isObject = typeof values === 'object' && values !== null && !Array.isArray(values);
    if (isObject) return { number, line: number, values: values as Record<string, unknown> };
    return { number, line: number, values: {}, problem: 'must be an object' };
  }
}

/** Splits a JSON list into the texts of its elements, after its opening bracket. */
class ListElements {
  #rest = '';
  #at = 0;
  #depth = 0;
  #inText = false;
  #hasEnded = false;

  push(text: string): string[] {
    const elements: string[] = [];
    this.#rest += text;
    const { length } = this.#rest;
    let start = 0;
    for (; this.#at < length && !this.#hasEnded; this.#at++) {
      const character = this.#rest[this.#at];
      if (this.#inText) {
        if (character === '\\') this.#at++;
        else if (character === '"') this.#inText = false;
      } else if (character === '"') this.#inText = true;
      else if (character === '{' || character === '[') this.#deepen();
      else if (this.#depth === 0 && (character === ',' || character === ']')) {
        const element = this.#rest.slice(start, this.#at);
        this.#hasEnded = character === ']';
        if (!this.#hasEnded || element.trim() !== '') elements.push(element);
        start = this.#at + 1;
      } else if (character === '}' || character === ']') this.#depth--;
    }
    this.#rest = this.#hasEnded ? '' : this.#rest.slice(start);
    checkLength(this.#rest.length);
    this.#at = this.#hasEnded ? 0 : this.#at - start;
    return elements;
  }

  end(): string[] {
    if (!this.#hasEnded) throw new ImportProblem('The file ends inside its JSON list.');
    return [];
  }

  #deepen(): void {
    this.#depth++;
    if (this.#depth > jsonDepthMax)
      throw new ImportProblem(`The file has values that are nested more than ${jsonDepthMax} levels deep.`);
  }
}

/** Splits a file with one JSON value per line. */
class Lines {
  #rest = '';

  push(text: string): string[] {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    checkLength(this.#rest.length);
    return lines.filter((line) => line.trim() !== '');
  }

  end(): string[] {
    return this.#rest.trim() === '' ? [] : [this.#rest];
  }
}

function checkLength(length: number): void {
  if (length <= rowCharactersMax) return;
  const most = rowCharactersMax.toLocaleString('en');
  throw new ImportProblem(`The file has a row of more than ${most} characters.`);
}

function parseElement(text: string): unknown {
  checkLength(text.length);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ImportProblem(`The file is not valid JSON near ${JSON.stringify(text.trim().slice(0, 40))}.`);
  }
}
