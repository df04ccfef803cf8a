import { AppError } from '@octavo/core';

const nameBytesMax = 255;
// Control characters, and those that change the direction of text.
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A file's name without its folders and without characters that deceive readers. */
export function cleanName(given: string): string {
  const last = given.normalize('NFC').split(/[\\/]/).at(-1) ?? '';
  const clean = last.replace(unseen, '').trim();
  if (/^\.*$/.test(clean)) return 'document';
  return shortened(clean.toWellFormed());
}

/** Keeps the ending. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= nameBytesMax) return name;
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? '';
  let stem = name.slice(0, name.length - ending.length);
  while (Buffer.byteLength(stem + ending) > nameBytesMax) stem = [...stem].slice(0, -1).join('');
  return stem + ending;
}

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
  eml: 'message/rfc822',
};
const sourceCode = new Set(
  'js mjs cjs ts tsx jsx py rb go rs java kt kts c h cc cpp hpp cs swift php pl lua sh bash zsh ps1 sql r scala dart ex exs erl hs clj vue svelte css scss less yaml yml toml ini conf cfg env properties proto graphql gql tf dockerfile makefile'.split(
    ' ',
  ),
);
const zipTypes = new Set([types.docx, types.xlsx, types.pptx, types.odt]);

/** The endings of files that can be uploaded. */
export const acceptedEndings = [...Object.keys(types), ...sourceCode];

/**
 * The media type of a file, by its name and its first bytes, which must agree. Throws `unsupported_media_type` for anything that is not
 * read here.
 */
export function mediaTypeOf(filename: string, bytes: Uint8Array): string {
  const ending = (/\.([^.]+)$/.exec(filename)?.[1] ?? filename).toLowerCase();
  const type = types[ending] ?? (sourceCode.has(ending) ? 'text/x-source' : undefined);
  if (type === undefined) {
    throw new AppError(
      'unsupported_media_type',
      `Files that end in .${ending.slice(0, 20)} are not supported.`,
    );
  }
  const problem = problemOf(type, bytes);
  if (problem !== undefined) throw new AppError('unsupported_media_type', `${filename} ${problem}.`);
  return type;
}

function problemOf(type: string, bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1_024)).toString('latin1');
  if (type === types.pdf) return head.includes('%PDF-') ? undefined : 'is not a PDF file';
  if (zipTypes.has(type))
    return head.startsWith('PK\x03\x04') ? undefined : 'is not an Office or OpenDocument file';
  if (head.startsWith('PK\x03\x04') || head.startsWith('%PDF-')) return 'is not what its name says';
  return isBinary(bytes) ? 'is not a text file' : undefined;
}

/** Returns true if bytes cannot be text: NUL without the byte order mark of UTF-16. */
function isBinary(bytes: Uint8Array): boolean {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return !isUtf16 && bytes.subarray(0, 64 * 1024).includes(0);
}
