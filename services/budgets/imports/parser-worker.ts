import { serveTasks } from '#kit/worker-tasks.ts';
import { createParser, decoderOf } from './parser.ts';
import { QifDates } from './qif.ts';
import type { DateFormat, FileParser, ParsedRow, ReadOptions } from './row.ts';

/** A worker thread that reads files, several at a time, each under an id. */
export type ParserTasks = typeof tasks;

interface Open {
  readonly parser: FileParser;
  readonly options: ReadOptions;
  decoder: TextDecoder | undefined;
}

const files = new Map<string, Open>();
const dates = new Map<string, { decoder: TextDecoder; dates: QifDates }>();

const tasks = {
  open({ id, options }: { id: string; options: ReadOptions }): void {
    files.set(id, { parser: createParser(options), options, decoder: undefined });
  },

  push({ id, bytes }: { id: string; bytes: Uint8Array }): ParsedRow[] {
    const file = openFile(id);
    file.decoder ??= decoderOf(bytes, file.options.format);
    return file.parser.push(file.decoder.decode(bytes, { stream: true }));
  },

  end({ id }: { id: string }): ParsedRow[] {
    const { parser, decoder } = openFile(id);
    const rest = decoder ? parser.push(decoder.decode()) : [];
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
    const file = dates.get(id) ?? { decoder: decoderOf(bytes, 'qif'), dates: new QifDates() };
    dates.set(id, file);
    file.dates.push(file.decoder.decode(bytes, { stream: true }));
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
