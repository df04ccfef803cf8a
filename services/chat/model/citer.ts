/** The end of a sentence or a line, and what comes next. A run of signs or spaces is tried once, or a long one would take quadratic time. */
const sentenceEnd = /(?<![.!?…"'”’)*_\s])([.!?…]*["'”’)*_]*)(\s+)(?=(\S))/gu;
/** Text that may be the end of a sentence once more of it is there, among the last signs. */
const waitingMax = 200;
const waiting = /(?:[.!?…]["'”’)*_]{0,4}|\n)\s*$/u;
/** Beginnings of lines that are no sentences: headings, rows of tables and code. */
const noSentence = /^\s*(?:#|\||```)/;
const opensSentence = /[\p{Lu}\p{N}\p{Ps}\p{Pi}"'*_#>|-]/u;

/** Adds the marker of its source to each sentence of an answer that a source supports and that has none. */
export class Citer {
  readonly #markerFor: (sentence: string) => string | undefined;
  /** The sentence that is being written, as far as it was passed on. */
  #sentence = '';
  #held = '';

  constructor(markerFor: (sentence: string) => string | undefined) {
    this.#markerFor = markerFor;
  }

  /** Returns the text that can be passed on after one more piece. The end of a sentence waits for what comes behind it. */
  push(piece: string): string {
    this.#held += piece;
    let passed = '';
    let from = 0;
    for (const { index, 1: stop = '', 2: space = '', 3: next = '' } of this.#held.matchAll(sentenceEnd)) {
      const end = index + stop.length + space.length;
      if (!endsSentence(stop, space, next)) continue;
      this.#sentence += this.#held.slice(from, index);
      passed += `${this.#held.slice(from, index)}${this.#marker()}${stop}${space}`;
      this.#sentence = '';
      from = end;
    }
    const rest = this.#held.slice(from);
    const tail = Math.max(0, rest.length - waitingMax);
    const kept = tail + (waiting.exec(rest.slice(tail))?.index ?? waitingMax);
    this.#held = rest.slice(kept);
    this.#sentence += rest.slice(0, kept);
    return passed + rest.slice(0, kept);
  }

  /** Returns the text that waited; without a marker if its sentence was cut. */
  end(isWhole: boolean): string {
    const held = this.#held;
    this.#held = '';
    if (!isWhole) return held;
    const stop = /^[.!?…]*["'”’)*_]*/.exec(held)?.[0] ?? '';
    const marker = this.#marker();
    this.#sentence = '';
    return marker + stop + held.slice(stop.length);
  }

  #marker(): string {
    const sentence = this.#sentence;
    if (sentence.trim() === '' || /\[A?\d+\]/.test(sentence) || noSentence.test(sentence)) return '';
    if (/:\s*$/.test(sentence)) return '';
    const marker = this.#markerFor(sentence);
    return marker === undefined ? '' : ` [${marker}]`;
  }
}

/** Markers behind a full stop belong to the sentence before. */
function endsSentence(stop: string, space: string, next: string): boolean {
  if (next === '[') return false;
  return space.includes('\n') || (/[.!?…]/.test(stop) && opensSentence.test(next));
}
