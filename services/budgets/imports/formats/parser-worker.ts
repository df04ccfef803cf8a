import { serveTasks } from '@octavo/core/concurrency';
import { FileText } from '@octavo/web/imports';
import { createSource } from './parser.ts';
import type { RawRow, Reading, RowSource, SurveyOptions } from './reading.ts';
import { type ParsedRow, parseRow } from './row.ts';
import { FileSurvey, type Problem } from './survey.ts';

/** A worker thread that reads files, several at a time, each under an id. */
export type ParserTasks = typeof tasks;

interface Open {
  readonly source: RowSource;
  readonly reading: Reading;
  readonly text: FileText;
}

const files = new Map<string, Open>();
const surveys = new Map<string, FileSurvey>();

const tasks = {
  open({ id, reading }: { id: string; reading: Reading }): void {
    files.set(id, { source: createSource(reading), reading, text: new FileText(reading.encoding) });
  },

  push({ id, bytes }: { id: string; bytes: Uint8Array }): ParsedRow[] {
    const file = given(files.get(id));
    return parsed(file.source.push(file.text.read(bytes)), file);
  },

  end({ id }: { id: string }): ParsedRow[] {
    const file = given(files.get(id));
    return parsed([...file.source.push(file.text.rest()), ...file.source.end()], file);
  },

  close({ id }: { id: string }): void {
    files.delete(id);
    surveys.delete(id);
  },

  /** Keeps the thread, with its open files. */
  keep(_: object): void {},

  openSurvey({ id, options }: { id: string; options: SurveyOptions }): void {
    surveys.set(id, new FileSurvey(options));
  },

  pushSurvey({ id, bytes }: { id: string; bytes: Uint8Array }): void {
    given(surveys.get(id)).push(bytes);
  },

  endSurvey({ id }: { id: string }): { readonly reading: Reading } | Problem {
    return given(surveys.get(id)).end();
  },
};

serveTasks(tasks);

function parsed(rows: readonly RawRow[], { reading }: Open): ParsedRow[] {
  return rows.map((row) => parseRow(row, reading));
}

function given<T>(file: T | undefined): T {
  if (!file) throw new Error('the thread has no such file; it was started again');
  return file;
}
