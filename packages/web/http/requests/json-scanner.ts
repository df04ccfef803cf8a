import { AppError, type Fields } from '@octavo/core';

/** Limits on the JSON to parse. Text of any length counts as one value. */
export interface JsonBounds {
  /** Deepest nesting of arrays and objects. */
  readonly depth: number;
  /** Number of items that all arrays and objects may have together; an empty one counts as one. */
  readonly values: number;
  /** Number of items that a list directly in the outer object may have. */
  readonly list?: { readonly key: string; readonly items: number };
}

const keyBytesMax = 64;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/**
 * Bounds what a JSON parser would build, chunk by chunk and before anything is parsed. Text of any length costs no more than its
 * bytes. It does not tell whether the JSON is valid.
 */
export class JsonScanner {
  readonly #bounds: JsonBounds;
  #depth = 0;
  #values = 0;
  #items = 0;
  #isInText = false;
  #isEscaped = false;
  /** The bytes of the last text directly in the outer object, without its quotes; undefined where it is too long. */
  #text: number[] | undefined;
  /** Flags for being inside the bounded list, and for an outer value that is a list, which is bounded in its place. */
  #isBoundedList = false;
  #isOuterList = false;

  constructor(bounds: JsonBounds) {
    this.#bounds = bounds;
  }

  /** Throws `validation_failed` at too many items, `invalid_input` at too much depth, and `too_large` at too many values. */
  push(chunk: Uint8Array): void {
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index] as number;
      if (this.#isInText) index = this.#scanText(chunk, index);
      else if (byte === quote) this.#startText();
      else if (byte === comma) this.#countValue();
      else if (byte === 0x7b || byte === 0x5b) this.#open(byte === 0x5b);
      else if (byte === 0x7d || byte === 0x5d) this.#close();
      else if (byte === colon && this.#depth === 1) this.#isBoundedList = this.#isListKey();
    }
  }

  #startText(): void {
    this.#isInText = true;
    this.#text = this.#depth === 1 ? [] : undefined;
  }

  /** Gives the index of the last byte that belongs to the text. */
  #scanText(chunk: Uint8Array, start: number): number {
    let index = start + (this.#isEscaped ? 1 : 0);
    for (;;) {
      const next = chunk.indexOf(quote, index);
      const end = next < 0 ? chunk.length : next;
      let backslashes = 0;
      while (end - backslashes > index && chunk[end - backslashes - 1] === backslash) backslashes++;
      this.#isEscaped = backslashes % 2 === 1;
      if (next >= 0 && this.#isEscaped) {
        index = next + 1;
        this.#isEscaped = false;
        continue;
      }
      if (this.#text) this.#collect(chunk.subarray(start, end));
      this.#isInText = next < 0;
      return end;
    }
  }

  #collect(bytes: Uint8Array): void {
    const text = this.#text;
    if (text && text.length + bytes.length <= keyBytesMax) text.push(...bytes);
    else this.#text = undefined;
  }

  /** The key may be written with escapes. */
  #isListKey(): boolean {
    const { list } = this.#bounds;
    try {
      return list !== undefined && this.#text !== undefined && keyOf(this.#text) === list.key;
    } catch {
      return false;
    }
  }

  #open(isList: boolean): void {
    this.#countOne();
    this.#depth++;
    const { depth } = this.#bounds;
    if (this.#depth > depth) {
      throw new AppError('invalid_input', `The request body is nested more than ${depth} deep.`);
    }
    if (this.#depth === 1) this.#isOuterList = isList;
    if (this.#depth === 2) this.#isBoundedList &&= isList;
    if (this.#depth === this.#itemDepth) this.#items = 1;
  }

  #close(): void {
    this.#depth--;
    if (this.#depth === 1) this.#isBoundedList = false;
  }

  #countValue(): void {
    this.#countOne();
    const { list } = this.#bounds;
    if (!list || this.#depth !== this.#itemDepth) return;
    this.#items++;
    if (this.#items <= list.items) return;
    if (this.#isOuterList) throw invalid({ body: 'must be an object' });
    throw invalid({ [list.key]: `must have at most ${list.items} items` });
  }

  /** The depth whose commas separate the items of the bounded list. */
  get #itemDepth(): number | undefined {
    if (this.#isOuterList) return 1;
    return this.#isBoundedList ? 2 : undefined;
  }

  #countOne(): void {
    const { values } = this.#bounds;
    if (++this.#values > values) {
      throw new AppError('too_large', `The request body must have at most ${values} values.`);
    }
  }
}

/** The key of these bytes between quotes. Throws if it is not JSON. */
function keyOf(bytes: readonly number[]): unknown {
  return JSON.parse(`"${String.fromCharCode(...bytes)}"`);
}

function invalid(fields: Fields): AppError {
  const [[name, problem] = ['', '']] = Object.entries(fields);
  return new AppError('validation_failed', `${name} ${problem}`, { fields });
}
