import { AppError } from '#kit/errors.ts';
import { createRowReader, FileProblem, formatOf } from '../assets/rows.js';
import type { ImportResult, RowError } from '../views/import.ts';

/** Saves some rows, of which the first has this number in the file. */
export type SaveRows = (rows: unknown[], first: number) => Promise<{ created: number; errors: RowError[] }>;

interface File {
  readonly name: string;
  readonly pieces: AsyncIterable<Buffer>;
}

const batchRows = 500;
const errorsShown = 200;

/** Saves the rows of a file as they arrive. Where that ends early, it says why and what was saved until then. */
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
  return first === 1 ? { ...sum, problem: 'The file has no posts in it.' } : sum;
}

async function* batchesOf({ name, pieces }: File): AsyncGenerator<unknown[]> {
  const reader = createRowReader(formatOf(name));
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rows: unknown[] = [];
  try {
    for await (const piece of pieces) {
      rows.push(...reader.push(decoder.decode(piece, { stream: true })));
      for (; rows.length >= batchRows; rows = rows.slice(batchRows)) yield rows.slice(0, batchRows);
    }
    rows.push(...reader.push(decoder.decode()), ...reader.end());
  } catch (error) {
    // What was read before the file turned out to be broken.
    if (rows.length > 0) yield rows;
    throw error;
  }
  if (rows.length > 0) yield rows;
}

function problemOf(error: unknown): string {
  if (error instanceof FileProblem || error instanceof AppError) return error.message;
  if ((error as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
    return 'The file is not text in UTF-8.';
  }
  throw error;
}
