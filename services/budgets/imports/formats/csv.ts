import { CsvRows, type FieldColumn, type FileRow } from '#kit/imports/rows.ts';
import {
  type FileParser,
  type ParsedRow,
  parseRow,
  type ReadOptions,
  type RowField,
  type RowTexts,
  rowFields,
} from './row.ts';

/** No expense is longer. */
const recordCharactersMax = 64 * 1024;

/** The column of each field. */
export type Columns = Readonly<Partial<Record<RowField, number>>>;

/** Problem with the columns of a file, as a message about the mapping. */
export type ColumnProblem = { readonly problem: string };

/** Finds the columns of a header: those that the mapping names, else those with our own names, in any case. */
export function columnsOf(
  header: readonly string[],
  mapping: ReadOptions['mapping'],
): Columns | ColumnProblem {
  const names = header.map((name) => name.trim());
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
  readonly #rows: CsvRows;

  constructor(options: ReadOptions) {
    this.#options = options;
    this.#rows = new CsvRows(
      { fieldsOf: (header) => fieldsOf(header, options.mapping) },
      recordCharactersMax,
    );
  }

  push(text: string): ParsedRow[] {
    return this.#rows.push(text).map((row) => this.#parse(row));
  }

  end(): ParsedRow[] {
    return this.#rows.end().map((row) => this.#parse(row));
  }

  #parse({ line, values, problem }: FileRow): ParsedRow {
    if (problem !== undefined) return { line, error: { field: 'line', message: problem } };
    const decimal = this.#rows.separator === ',' ? '.' : ',';
    return parseRow(line, values as RowTexts, { ...this.#options, decimal });
  }
}

/** The upload was refused if this fails, so it does not. */
function fieldsOf(header: readonly string[], mapping: ReadOptions['mapping']): FieldColumn[] {
  const columns = columnsOf(header, mapping);
  if ('problem' in columns) throw new Error(`mapping ${columns.problem}`);
  return Object.entries(columns);
}
