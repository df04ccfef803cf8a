import { serveTasks } from '#kit/concurrency/worker-tasks.ts';
import { hasCrLines } from '#kit/imports/rows.ts';
import { createParser, decoderOf } from './parser.ts';
import { QifDates } from './qif.ts';
import type { DateFormat, FileParser, ImportFormat, ParsedRow, ReadOptions } from './row.ts';

/** A worker thread that reads files, several at a time, each under an id. */
export type ParserTasks = typeof tasks;

interface Open {
  readonly parser: FileParser;
  readonly options: ReadOptions;
  text: FileText | undefined;
}

/** The text of a file as it arrives, whose lines end with LF or CRLF. */
class FileText {
  readonly #decoder: TextDecoder;
  #hasCrLines: boolean | undefined;

  constructor(head: Uint8Array, format: ImportFormat) {
    this.#decoder = decoderOf(head, format);
  }

  read(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes, { stream: true });
    this.#hasCrLines ??= hasCrLines(text);
    return this.#hasCrLines ? text.replaceAll('\r', '\n') : text;
  }

  rest(): string {
    return this.#decoder.decode();
  }
}

const files = new Map<string, Open>();
const dates = new Map<string, { text: FileText; dates: QifDates }>();

const tasks = {
  open({ id, options }: { id: string; options: ReadOptions }): void {
    files.set(id, { parser: createParser(options), options, text: undefined });
  },

  push({ id, bytes }: { id: string; bytes: Uint8Array }): ParsedRow[] {
    const file = openFile(id);
    file.text ??= new FileText(bytes, file.options.format);
    return file.parser.push(file.text.read(bytes));
  },

  end({ id }: { id: string }): ParsedRow[] {
    const { parser, text } = openFile(id);
    const rest = text ? parser.push(text.rest()) : [];
    return [...rest, ...parser.end()];
  },

  close({ id }: { id: string }): void {
    files.delete(id);
    dates.delete(id);
  },

  /** Keeps the thread, with its open files. */
  keep(_: object): void {},

  /** Looks at the dates of a QIF file. */
  pushDates({ id, bytes }: { id: string; bytes: Uint8Array }): void {
    const file = dates.get(id) ?? { text: new FileText(bytes, 'qif'), dates: new QifDates() };
    dates.set(id, file);
    file.dates.push(file.text.read(bytes));
  },

  endDates({ id }: { id: string }): DateFormat | 'several' {
    return dates.get(id)?.dates.end() ?? 'ymd';
  },
};

serveTasks(tasks);

function openFile(id: string): Open {
  const file = files.get(id);
  if (!file) throw new Error('the thread has no such file; it was started again');
  return file;
}
