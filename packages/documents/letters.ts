/** The letters of files of other people. */
import { isAscii, isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';

/** The letters of a file. */
export interface Letters {
  /** A label of WHATWG, such as `windows-1250`. */
  readonly encoding: string;
  /** Confidence from 0 to 1; a guess under 0.8 is worth a warning. */
  readonly confidence: number;
}

const declarationBytes = 2_048;
/** The part of a file that is enough for a guess. */
const guessBytes = 256 * 1024;
/** Confidence from which no warning is shown. */
const sureFrom = 0.8;
/** Confidence in UTF-8 with mistakes. */
const nearly = 0.7;
/** Characters of UTF-8 text for which one malformed one is allowed. */
const charactersPerMistake = 1_000;

/** The letters of the file that begins so: by its mark, its declaration, as UTF-8, else a guess. */
export function lettersOf(head: Uint8Array): Letters {
  const certain = (encoding: string) => ({ encoding, confidence: 1 });
  const marked = markOf(head) ?? utf16Of(head);
  if (marked !== undefined) return certain(marked);
  const isUtf = [0, 1, 2, 3].some((cut) => isUtf8(head.subarray(0, head.length - cut)));
  const declared = declaredIn(head);
  if (isUtf && (declared === undefined || !isMultibyte(declared))) return certain('utf-8');
  if (declared !== undefined && declared !== 'utf-8' && agrees(head, declared)) return certain(declared);
  if (isUtf) return certain('utf-8');
  return isNearlyUtf(head) ? { encoding: 'utf-8', confidence: nearly } : guess(head);
}

/** Encodings that a person can choose, by their labels of WHATWG. */
export const encodings =
  'utf-8 utf-16le utf-16be windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 iso-8859-2 iso-8859-5 iso-8859-7 iso-8859-8 iso-8859-15 koi8-r shift_jis euc-jp euc-kr gb18030 big5'.split(
    ' ',
  );

/**
 * Decodes a file that begins so, in the encoding that a person chose or else by its letters. What begins as UTF-8 without a mistake and has
 * one later throws `ERR_ENCODING_INVALID_ENCODED_DATA`, since its letters cannot be told any more.
 */
export function decoderOf(head: Uint8Array, chosen?: string): TextDecoder {
  if (chosen !== undefined) return new TextDecoder(chosen);
  const { encoding, confidence } = lettersOf(head);
  return new TextDecoder(encoding, { fatal: encoding === 'utf-8' && confidence === 1 });
}

/** The text of a whole file, in the encoding that a person chose or else by its letters. NUL, which databases refuse, is U+FFFD. */
export function textOfFile(
  bytes: Uint8Array,
  chosen?: string,
): { readonly text: string; readonly letters: Letters } {
  const letters = chosen === undefined ? lettersOfFile(bytes) : { encoding: chosen, confidence: 1 };
  const text = new TextDecoder(letters.encoding).decode(bytes).replaceAll('\0', '\uFFFD');
  return { text, letters };
}

/** {@link lettersOf} a file that is whole, so that no character is cut off but by its author. */
function lettersOfFile(bytes: Uint8Array): Letters {
  if (isUtf8(bytes)) return lettersOf(bytes);
  // A last letter that is the only one beyond ASCII tells nothing of UTF-8.
  if (isAscii(bytes.subarray(0, -3))) return guess(bytes);
  const letters = lettersOf(bytes);
  return letters.encoding === 'utf-8' ? { encoding: 'utf-8', confidence: nearly } : letters;
}

/** A sentence on letters that are no UTF-8, for a page; undefined for those that are. */
export function lettersNote({ encoding, confidence }: Letters): string | undefined {
  if (encoding === 'utf-8' && confidence === 1) return undefined;
  if (encoding === 'utf-8') return 'Some letters of the file cannot be read. They are shown as \uFFFD.';
  const isGuess =
    confidence < sureFrom ? ', which is a guess. Choose another encoding if they look wrong' : '';
  return `The letters of the file are read as ${encoding}${isGuess}.`;
}

/** {@link lettersNote} where the letters are not certain, for a text that is stored without a preview. */
export function lettersWarning(letters: Letters): string | undefined {
  return letters.confidence < sureFrom ? lettersNote(letters) : undefined;
}

/** True for a label that can be decoded. */
export function isEncoding(label: string): boolean {
  return nameOf(label) !== undefined;
}

function nameOf(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

function markOf(head: Uint8Array): string | undefined {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 'utf-8' : undefined;
}

/** UTF-16 without a mark: every other byte of most texts is zero. */
function utf16Of(head: Uint8Array): string | undefined {
  const sample = head.subarray(0, declarationBytes);
  const zeros = [0, 0];
  for (const [index, byte] of sample.entries())
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  const most = Math.max(3, sample.length / 5);
  if (odd > most && even < most / 10) return 'utf-16le';
  return even > most && odd < most / 10 ? 'utf-16be' : undefined;
}

/** The encoding that the declaration of XML, of HTML or the header of OFX names. */
function declaredIn(head: Uint8Array): string | undefined {
  const start = Buffer.from(head.subarray(0, declarationBytes)).toString('latin1');
  const [, xml] = /<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)/i.exec(start) ?? [];
  const [, html] = /<meta[^>]*charset\s*=\s*["']?([\w.:-]+)/i.exec(start) ?? [];
  const [, encoding = ''] = /^ENCODING\s*:\s*(\S+)/im.exec(start) ?? [];
  const [, charset] = /^CHARSET\s*:\s*(\S+)/im.exec(start) ?? [];
  const ofx = /^(utf-?8|unicode)/i.test(encoding) ? 'utf-8' : charset?.replace(/^(\d{3,4})$/, 'windows-$1');
  const label = xml ?? html ?? ofx;
  return label === undefined ? undefined : nameOf(label);
}

function isMultibyte(encoding: string): boolean {
  return !/^(windows-|iso-8859-|koi8|macintosh|ibm)/.test(encoding);
}

/** True if the bytes can be decoded; the last character may be cut off. */
function agrees(head: Uint8Array, encoding: string): boolean {
  return [0, 1, 2, 3].some((cut) => {
    try {
      new TextDecoder(encoding, { fatal: true }).decode(head.subarray(0, head.length - cut));
      return true;
    } catch {
      return false;
    }
  });
}

function isNearlyUtf(head: Uint8Array): boolean {
  const text = new TextDecoder().decode(head);
  const mistakes = text.split('\uFFFD').length - 1;
  return mistakes * charactersPerMistake <= text.length;
}

/** A guess from the words that are not of ASCII alone: the others say nothing, and lower every confidence. */
function guess(head: Uint8Array): Letters {
  const words = Buffer.from(head.subarray(0, guessBytes))
    .toString('latin1')
    .split(/[ \t\r\n,;"]+/)
    .filter((word) => /[\x80-\xff]/.test(word));
  for (const { name, confidence } of analyse(Buffer.from(words.join(' '), 'latin1'))) {
    const encoding = nameOf(name);
    if (encoding !== undefined && encoding !== 'utf-8' && agrees(head, encoding))
      return { encoding, confidence: confidence / 100 };
  }
  return { encoding: 'windows-1252', confidence: 0 };
}

/** The text of a file as it arrives. Lines end with LF, whatever they end with in the file. */
export class FileText {
  readonly #decoder: TextDecoder;
  #hasCrLines: boolean | undefined;
  #held = '';

  constructor(encoding: string) {
    this.#decoder = new TextDecoder(encoding);
  }

  read(bytes: Uint8Array): string {
    return this.#withNewlines(this.#decoder.decode(bytes, { stream: true }), false);
  }

  rest(): string {
    return this.#withNewlines(this.#decoder.decode(), true);
  }

  /** A CR at the end may belong to an LF that is still to come. */
  #withNewlines(given: string, isEnd: boolean): string {
    const text = this.#held + given;
    if (/\n|\r[^\r\n]/.test(text)) this.#hasCrLines ??= hasCrLines(text);
    const whole = isEnd ? text : text.replace(/\r+$/, '');
    this.#held = text.slice(whole.length);
    return (this.#hasCrLines ? whole.replaceAll('\r', '\n') : whole.replace(/\r+\n/g, '\n')).replaceAll(
      '\0',
      '\uFFFD',
    );
  }
}

/** True if lines end with CR only, as in files of old programs and of some banks. */
export function hasCrLines(head: string): boolean {
  return !head.includes('\n') && /\r[^\r\n]/.test(head);
}
