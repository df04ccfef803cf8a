import { AppError } from '#kit/errors.ts';
import { type ColumnNames, createRowParser, FileProblem, formatOf, problemOfRow } from './assets/rows.js';
import { type ParseRow, wholeRow } from './bulk.ts';

/** What became of an import. */
export interface ImportResult {
  readonly created: number;
  readonly failed: number;
  /** The first invalid rows, by their number in the file from 1. */
  readonly errors: readonly RowError[];
  /** Why it ended before the end of the file. */
  readonly problem?: string | undefined;
}

export interface RowError {
  readonly row: number;
  readonly message: string;
}

/** Saves some rows, the first of which has this number in the file. */
export type SaveRows = (rows: unknown[], first: number) => Promise<{ created: number; errors: RowError[] }>;

interface File {
  readonly name: string;
  readonly chunks: AsyncIterable<Buffer>;
  /** Which columns of CSV to take. */
  readonly columnNames: ColumnNames;
}

const batchRows = 500;
const errorsShown = 200;

/** Saves the rows of a file as they arrive. If it ends early, the result says why, and what was saved until then. */
export async function importFile(file: File, save: SaveRows): Promise<ImportResult> {
  const sum = { created: 0, failed: 0, errors: [] as RowError[] };
  let first = 1;
  try {
    for await (const rows of batchesOf(file)) {
      const { created, errors } = await save(rows, first);
      first += rows.length;
      sum.created += created;
      sum.failed += errors.length;
      sum.errors.push(...errors.slice(0, errorsShown - sum.errors.length));
    }
  } catch (error) {
    return { ...sum, problem: problemOf(error) };
  }
  return first === 1 ? { ...sum, problem: 'The file contains no posts.' } : sum;
}

/** A row of a file can have a problem already, which its parser found. */
export function parseImported(parseRow: ParseRow): ParseRow {
  return (row) => {
    const problem = problemOfRow(row);
    return problem === undefined ? parseRow(row) : { fields: { [wholeRow]: problem } };
  };
}

async function* batchesOf({ name, chunks, columnNames }: File): AsyncGenerator<unknown[]> {
  const parser = createRowParser(formatOf(name), columnNames);
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rows: unknown[] = [];
  try {
    for await (const chunk of chunks) {
      rows.push(...parser.push(decoder.decode(chunk, { stream: true })));
      for (; rows.length >= batchRows; rows = rows.slice(batchRows)) yield rows.slice(0, batchRows);
    }
    rows.push(...parser.push(decoder.decode()), ...parser.end());
  } catch (error) {
    // The rows before the broken part of the file.
    if (rows.length > 0) yield rows;
    throw error;
  }
  if (rows.length > 0) yield rows;
}

function problemOf(error: unknown): string {
  if (error instanceof FileProblem || error instanceof AppError) return error.message;
  if ((error as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    return 'The file is not UTF-8 text.';
  }
  throw error;
}
