/** Bounds of a client for the text of an answer. */
export interface OutputBounds {
  readonly maxTokens?: number | undefined;
  /** Texts before which an answer ends. */
  readonly stop?: readonly string[] | undefined;
}

/** Scripts without spaces between words; each letter counts. */
const spaceless = '\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Thai}';
/** A word, up to three digits, or a sign, with the spaces before it: about what models count. */
const tokens = new RegExp(
  `\\s*(?:[${spaceless}]|[[\\p{L}\\p{M}]--[${spaceless}]]+|\\p{N}{1,3}|[^\\s\\p{L}\\p{M}\\p{N}])`,
  'gv',
);

/** Passes the text of an answer on as it comes, up to the bounds. */
export class OutputLimit {
  readonly #maxTokens: number;
  readonly #stop: readonly string[];
  #held = '';
  #count = 0;
  /** The last token, which the next piece may go on with. */
  #last = '';
  #cut: 'stop' | 'length' | undefined;

  constructor({ maxTokens = Number.POSITIVE_INFINITY, stop = [] }: OutputBounds = {}) {
    this.#maxTokens = maxTokens;
    this.#stop = stop;
  }

  /** The reason why the text was cut; undefined as long as it was not. */
  get cut(): 'stop' | 'length' | undefined {
    return this.#cut;
  }

  /** The text that can be passed on after one more piece. What may become a stop text waits. */
  push(piece: string): string {
    this.#held += piece;
    return this.#take(false);
  }

  /** The text that waited. */
  end(): string {
    return this.#take(true);
  }

  /** A whole text, as far as it may be said. */
  all(text: string): string {
    return this.push(text) + this.end();
  }

  #take(isEnd: boolean): string {
    const held = this.#held;
    this.#held = '';
    if (this.#cut) return '';
    const ends = this.#stop.map((text) => held.indexOf(text)).filter((at) => at >= 0);
    const end = ends.length > 0 ? Math.min(...ends) : undefined;
    const passed = end ?? held.length - (isEnd ? 0 : this.#waiting(held));
    if (end === undefined) this.#held = held.slice(passed);
    const text = this.#counted(held.slice(0, passed));
    if (end !== undefined) this.#cut ??= 'stop';
    return text;
  }

  /** Length of the longest end of a text with which a stop text begins. */
  #waiting(text: string): number {
    const longest = Math.max(0, ...this.#stop.map(({ length }) => length - 1));
    for (let length = Math.min(longest, text.length); length > 0; length--) {
      if (this.#stop.some((each) => each.startsWith(text.slice(-length)))) return length;
    }
    return 0;
  }

  #counted(text: string): string {
    if (this.#maxTokens === Number.POSITIVE_INFINITY) return text;
    const last = this.#last;
    const whole = last + text;
    if (last !== '') this.#count--;
    for (const { 0: token, index } of whole.matchAll(tokens)) {
      if (this.#count === this.#maxTokens) {
        this.#cut = 'length';
        return whole.slice(last.length, index);
      }
      this.#count++;
      this.#last = index + token.length === whole.length ? token : '';
    }
    return text;
  }
}
