import type { Fields } from '@octavo/core';
import { serveTasks } from '@octavo/core/concurrency';
import { csvRecord } from '@octavo/core/text';
import type { RowProblem } from '@octavo/web/import-pages';
import type { FileTasks } from '@octavo/web/imports';
import { decoderOf, type FileRow, ImportProblem, type RowParser } from '@octavo/web/imports';
import { compileValidator } from '@octavo/web/validation';
import { CreatePostRequest } from '../posts/index.ts';
import { wholeRow } from './bulk.ts';
import { createPostParser, failedMax, type ImportedFile, postOf, tooManyFailed } from './import-fields.ts';

/** Rows that can be saved, and what became of the others. */
export interface ImportedRows {
  /** Rows, each with its number in the file, and the name of its author if it has one. */
  readonly rows: { readonly number: number; readonly post: CreatePostRequest; readonly author?: string }[];
  /** Number of rows that were read, with those that cannot be saved. */
  readonly read: number;
  /** The first rows of the file that cannot be saved. */
  readonly problems: RowProblem[];
  readonly failed: number;
  /** All rows that cannot be saved, as records of CSV with their number and problem. */
  readonly failedRecords: string;
  /** Reason why the rest of the file is not read, in words for its owner. */
  readonly problem?: string;
}

const problemsShown = 200;

const parsePost = compileValidator(CreatePostRequest, wholeRow);
let decoder: TextDecoder | undefined;
let encoding: string | undefined;
let fileName = '';
let parser: RowParser | undefined;
let failed = 0;

const tasks: FileTasks<ImportedFile, ImportedRows> = {
  open(file) {
    fileName = file.name;
    encoding = file.encoding;
    parser = createPostParser(file);
  },

  push(chunk) {
    decoder ??= decoderOf(chunk, encoding);
    const text = () => decoder?.decode(chunk, { stream: true }) ?? '';
    return checked((opened) => opened.push(text()));
  },

  end: () => checked((opened) => [...opened.push(decoder?.decode() ?? ''), ...opened.end()]),
};

serveTasks(tasks);

function checked(read: (opened: RowParser) => FileRow[]): ImportedRows {
  try {
    return checkedRows(parser ? read(parser) : []);
  } catch (error) {
    return { rows: [], read: 0, failed: 0, problems: [], failedRecords: '', problem: problemOf(error) };
  }
}

/** Up to the row with which too many are wrong. */
function checkedRows(found: readonly FileRow[]): ImportedRows {
  let read = 0;
  const rows: ImportedRows['rows'] = [];
  const problems: RowProblem[] = [];
  const failedRecords: string[] = [];
  for (const row of found) {
    if (failed > failedMax) break;
    read++;
    const { post, author } = postOf(fileName, row);
    const parsed = row.problem === undefined ? parsePost(post) : { fields: { [wholeRow]: row.problem } };
    if (!parsed.fields) {
      rows.push({ number: row.number, post: parsed.value, ...(author !== undefined && { author }) });
      continue;
    }
    const message = inWords(parsed.fields);
    failed += 1;
    if (failed <= problemsShown) problems.push({ row: row.number, message });
    failedRecords.push(failedRecord(row, message));
  }
  const counted = {
    rows,
    read,
    failed: failedRecords.length,
    problems,
    failedRecords: failedRecords.join(''),
  };
  if (failed <= failedMax) return counted;
  return { ...counted, problem: tooManyFailed };
}

function inWords(fields: Fields): string {
  const problems = Object.entries(fields);
  return problems.map(([name, problem]) => (name === wholeRow ? problem : `${name} ${problem}`)).join('; ');
}

/** A record under the names of `failedColumns`, to mend and to import again. */
function failedRecord({ number, values, rest = [] }: FileRow, message: string): string {
  const { title, body, userId, author = userId } = values;
  return csvRecord([...[title, body, author].map(textOf), String(number), message, ...rest]);
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function problemOf(error: unknown): string {
  if (error instanceof ImportProblem) return error.message;
  if ((error as NodeJS.ErrnoException).code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
    return 'The file begins as UTF-8 and goes on as something else.';
  throw error;
}
