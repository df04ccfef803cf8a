import { isUtf8 } from 'node:buffer';
import { AppError } from '#kit/base/errors.ts';
import { hasCrLines, headerOf } from '#kit/imports/rows.ts';
import { CsvParser, columnsOf } from './csv.ts';
import { OfxParser } from './ofx.ts';
import { QifParser } from './qif.ts';
import type { FileParser, ImportFormat, ReadOptions } from './row.ts';

export function createParser(options: ReadOptions): FileParser {
  switch (options.format) {
    case 'csv':
      return new CsvParser(options);
    case 'ofx':
      return new OfxParser(options);
    case 'qif':
      return new QifParser(options);
  }
}

/** Returns the decoder for the first bytes of a file: UTF-8, UTF-16 with a mark, else the encoding of old programs. */
export function decoderOf(head: Uint8Array, format: ImportFormat): TextDecoder {
  if (head[0] === 0xff && head[1] === 0xfe) return new TextDecoder('utf-16le');
  if (head[0] === 0xfe && head[1] === 0xff) return new TextDecoder('utf-16be');
  // A character may be cut off at the end.
  const isUtf = [0, 1, 2, 3].some((cut) => isUtf8(head.subarray(0, head.length - cut)));
  if (format === 'ofx' && !isUtf) return new TextDecoder('windows-1252');
  return new TextDecoder(isUtf ? 'utf-8' : 'windows-1252');
}

/** Throws `unprocessable` if a file that begins like this is of another kind, or lacks columns. */
export function checkHead(
  head: Uint8Array,
  { format, mapping }: Pick<ReadOptions, 'format' | 'mapping'>,
): void {
  const text = textOf(head, format);
  if (text.trim() === '') throw unreadable('is empty');
  if (text.includes('\0')) throw unreadable(`is no ${format.toUpperCase()} file`);
  const kind = kindOf(text);
  if (format !== kind) throw unreadable(`is no ${format.toUpperCase()} file`);
  if (format === 'csv') checkHeader(text, mapping);
}

/** The kind of file that begins like this; undefined if it is none that can be read. */
export function formatOf(head: Uint8Array): ImportFormat | undefined {
  const text = textOf(head, 'ofx');
  return text.trim() === '' || text.includes('\0') ? undefined : kindOf(text);
}

/** The names of the columns of a CSV file that begins like this; none if they cannot be read. */
export function columnNames(head: Uint8Array): string[] {
  return headerOf(textOf(head, 'csv'));
}

function textOf(head: Uint8Array, format: ImportFormat): string {
  const text = decoderOf(head, format)
    .decode(head)
    .replace(/^\uFEFF/, '');
  return hasCrLines(text) ? text.replaceAll('\r', '\n') : text;
}

function kindOf(text: string): ImportFormat | undefined {
  const start = text.trimStart();
  if (/^OFXHEADER\s*:|<\?OFX\s|<OFX>/i.test(start.slice(0, 4_096))) return 'ofx';
  if (/^!(type|account|option|clear)/i.test(start) || /^D[\d/.' -]+\r?\n[TUPMLNC]/.test(start)) return 'qif';
  // Other kinds of files that are text.
  if (/^[<{[]|^%PDF|^PK[^a-z]/.test(start)) return undefined;
  return 'csv';
}

function checkHeader(text: string, mapping: ReadOptions['mapping']): void {
  const header = headerOf(text);
  if (header.length === 0) throw unreadable('has no header that can be read');
  const columns = columnsOf(header, mapping);
  if ('problem' in columns) throw unreadable(`cannot be mapped: mapping ${columns.problem}`, 'mapping');
}

/** The error of a file that cannot be read, with words that follow "The file". */
export function unreadable(problem: string, field = 'file'): AppError {
  return new AppError('unprocessable', `The file ${problem}.`, { fields: { [field]: problem } });
}
