import { AppError } from '@octavo/core';
import { lettersOf } from './letters.ts';

/** Media types by the ending of a file's name. */
const types: Readonly<Record<string, string>> = {
  txt: 'text/plain',
  text: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  markdown: 'text/markdown',
  rst: 'text/x-rst',
  html: 'text/html',
  htm: 'text/html',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  jsonl: 'application/jsonl',
  ndjson: 'application/jsonl',
  xml: 'application/xml',
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
  eml: 'message/rfc822',
  rtf: 'application/rtf',
  epub: 'application/epub+zip',
  ipynb: 'application/x-ipynb+json',
  srt: 'application/x-subrip',
  vtt: 'text/vtt',
  ics: 'text/calendar',
  mdx: 'text/mdx',
  org: 'text/x-org',
  adoc: 'text/asciidoc',
  asciidoc: 'text/asciidoc',
  xhtml: 'application/xhtml+xml',
};

/** Endings of files that are not read, and what to save them as. */
const insteads: Readonly<Record<string, string>> = {
  doc: '.docx',
  docm: '.docx',
  dot: '.docx',
  pages: '.docx or .pdf',
  xls: '.xlsx',
  xlsm: '.xlsx',
  xlsb: '.xlsx',
  numbers: '.xlsx',
  ppt: '.pptx',
  pptm: '.pptx',
  key: '.pptx or .pdf',
  msg: '.eml',
};
const sourceCode = new Set(
  'js mjs cjs ts tsx jsx py rb go rs java kt kts c h cc cpp hpp cs swift php pl lua sh bash zsh ps1 sql r scala dart ex exs erl hs clj vue svelte css scss less yaml yml toml ini conf cfg env properties proto graphql gql tf dockerfile makefile'.split(
    ' ',
  ),
);
const zipTypes = new Set([types.docx, types.xlsx, types.pptx, types.odt, types.ods, types.odp, types.epub]);

/** The endings of files that can be uploaded. */
export const acceptedEndings = [...Object.keys(types), ...sourceCode];

/**
 * The media type of a file, by its name and its first bytes, which must agree; by its bytes alone where the name has no ending. Throws
 * `unsupported_media_type` for anything that is not read here.
 */
export function mediaTypeOf(filename: string, bytes: Uint8Array): string {
  const given = /[^.]\.([^.]+)$/.exec(filename)?.[1];
  const ending = (given ?? filename).toLowerCase();
  const byName =
    (Object.hasOwn(types, ending) ? types[ending] : undefined) ??
    (sourceCode.has(ending) ? 'text/x-source' : undefined);
  const type = byName ?? (given === undefined ? typeByContent(bytes) : undefined);
  if (type === undefined) throw new AppError('unsupported_media_type', refusal(ending, given !== undefined));
  const problem = problemOf(type, bytes);
  if (problem !== undefined) throw new AppError('unsupported_media_type', `${filename} ${problem}.`);
  return type;
}

function refusal(ending: string, hasEnding: boolean): string {
  if (!hasEnding) return 'A file whose name has no ending must be text or of a known format.';
  const instead = Object.hasOwn(insteads, ending)
    ? ` Save the file as ${insteads[ending]} and upload that.`
    : '';
  return `Files that end in .${ending.slice(0, 20)} are not supported.${instead}`;
}

const headBytes = 4_096;

function headOf(bytes: Uint8Array, length = headBytes): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, length)).toString('latin1');
}

/** The media type of a file by its first bytes, or by the names in its archive; plain text for other text. */
function typeByContent(bytes: Uint8Array): string | undefined {
  const head = headOf(bytes);
  if (head.startsWith('%PDF-')) return types.pdf;
  if (head.startsWith('{\\rtf')) return types.rtf;
  if (head.startsWith('PK\x03\x04')) return archiveType(bytes);
  if (isBinary(bytes)) return undefined;
  if (/^\s*(?:<!doctype html|<html)/i.test(head)) return types.html;
  if (/^\s*<\?xml/.test(head)) return types.xml;
  if (head.startsWith('BEGIN:VCALENDAR')) return types.ics;
  if (head.startsWith('WEBVTT')) return types.vtt;
  return types.txt;
}

function archiveType(bytes: Uint8Array): string | undefined {
  const declared = /mimetype(application\/[\w.+-]+?)PK/.exec(headOf(bytes))?.[1];
  if (declared !== undefined) return zipTypes.has(declared) ? declared : undefined;
  const names = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  if (names.includes('word/document.xml')) return types.docx;
  if (names.includes('xl/workbook.xml')) return types.xlsx;
  return names.includes('ppt/presentation.xml') ? types.pptx : undefined;
}

function problemOf(type: string, bytes: Uint8Array): string | undefined {
  const head = headOf(bytes, 1_024);
  if (type === types.pdf) return head.includes('%PDF-') ? undefined : 'is not a PDF file';
  if (type === types.rtf) return /^\s*\{\\rtf/.test(head) ? undefined : 'is not an RTF file';
  if (zipTypes.has(type))
    return head.startsWith('PK\x03\x04') ? undefined : 'is not an Office, OpenDocument or EPUB file';
  if (head.startsWith('PK\x03\x04') || head.startsWith('%PDF-')) return 'is not what its name says';
  return isBinary(bytes) ? 'is not a text file' : undefined;
}

/** Returns true if bytes cannot be text: NUL outside of UTF-16. */
function isBinary(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, 64 * 1024);
  return head.includes(0) && !lettersOf(head).encoding.startsWith('utf-16');
}
