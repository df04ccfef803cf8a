import { AppError } from '#kit/errors.ts';
import { postLimits } from '#proto/posts/v1/limits.ts';
import { invalid } from './bulk.ts';

const depthMax = 32;
/** 1,000 rows of 100 keys each, most of which nobody reads. */
const valuesMax = 100 * postLimits.bulk;
const keyBytesMax = 64;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/**
 * Bounds what a JSON parser would make of a bulk request, chunk by chunk and before it is parsed: its rows, its values and how deep they
 * are nested. Text of any length costs no more than its bytes. It does not tell whether the JSON is valid.
 */
export class BodyScanner {
  #depth = 0;
  #values = 0;
  #rows = 0;
  #isInText = false;
  #isEscaped = false;
  /** The bytes of the last text directly in the outer object, without its quotes; undefined where it is too long. */
  #text: number[] | undefined;
  /** Whether the items of the list directly in the outer object are rows, or the outer value is itself a list. */
  #isRowList = false;
  #isOuterList = false;

  /** Throws `validation_failed` at row 1,001, `invalid_input` at depth 33, and `too_large` at too many values. */
  push(chunk: Uint8Array): void {
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index] as number;
      if (this.#isInText) index = this.#scanText(chunk, index);
      else if (byte === quote) this.#startText();
      else if (byte === comma) this.#countValue();
      else if (byte === 0x7b || byte === 0x5b) this.#open(byte === 0x5b);
      else if (byte === 0x7d || byte === 0x5d) this.#close();
      else if (byte === colon && this.#depth === 1) this.#isRowList = this.#isPostsKey();
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
  #isPostsKey(): boolean {
    try {
      return this.#text !== undefined && JSON.parse(`"${String.fromCharCode(...this.#text)}"`) === 'posts';
    } catch {
      return false;
    }
  }

  #open(isList: boolean): void {
    this.#countOne();
    this.#depth++;
    if (this.#depth > depthMax) {
      throw new AppError('invalid_input', `The request body is nested more than ${depthMax} deep.`);
    }
    if (this.#depth === 1) this.#isOuterList = isList;
    if (this.#depth === 2) this.#isRowList &&= isList;
    if (this.#depth === this.#rowDepth) this.#rows = 1;
  }

  #close(): void {
    this.#depth--;
    if (this.#depth === 1) this.#isRowList = false;
  }

  #countValue(): void {
    this.#countOne();
    if (this.#depth !== this.#rowDepth) return;
    this.#rows++;
    if (this.#rows <= postLimits.bulk) return;
    if (this.#isOuterList) throw invalid({ body: 'must be an object' });
    throw invalid({ posts: `must have at most ${postLimits.bulk} items` });
  }

  /** The depth whose commas separate rows. */
  get #rowDepth(): number | undefined {
    if (this.#isOuterList) return 1;
    return this.#isRowList ? 2 : undefined;
  }

  #countOne(): void {
    if (++this.#values > valuesMax) {
      throw new AppError('too_large', `The request body must have at most ${valuesMax} values.`);
    }
  }
}
