import { noAnswer } from './prompt.ts';

const heldMax = 400;
const urlMax = 2_000;
const inParenthesesMax = 40;
/** Numbers of sources as models write them: `1`, `1, A2`, `Source 1`, `^1`, `1†lines 3-4`. */
const markers =
  /^\s*(?:\^|sources?[\s:#]+)?A?\d{1,3}(?:\s*(?:[,;]|and|&)\s*(?:sources?[\s:#]+)?A?\d{1,3})*\s*(?:†.*)?$/i;
/** Numbers in parentheses, which are those of sources only where a part of a sentence ends. */
const inParentheses = /^\((?:sources?\b|A?\d{1,3}\s*[,;)]|A?\d{0,3}$|s\w{0,6}$)/i;
const special = new RegExp(
  String.raw`!?\[|\(|<(?=\/?[a-z])|\b(?:https?:\/\/|ftp:\/\/|www\.)|\b(?:${noAnswer}|NO ANSWER\b)`,
  'i',
);
/** Text that may become special with the next piece. */
const begins =
  /(?:!|<\/?|\b(?:h|ht|htt|https?|https?:|https?:\/|f|ft|ftp|ftp:|ftp:\/|w|ww|www)|\b(?:NO?|NO[_ ]A?N?S?W?E?R?))$/i;
const loadingTag =
  /^<\/?(?:a|img|image|iframe|script|video|audio|source|object|embed|link|svg|style|form|input|base|meta)\b/i;

export interface FilterOptions {
  /** Returns true if a marker, such as `3` or `A1`, is of something that was given to the model. */
  readonly isKnown: (marker: string) => boolean;
  /** Returns true if the model was given this address. */
  readonly isAllowed: (url: string) => boolean;
}

/**
 * Passes on the text of a model as it comes, without images, foreign links and markers of sources that it was not given. Only what may
 * become one of these waits.
 */
export class AnswerFilter {
  readonly #options: FilterOptions;
  #held = '';
  /** True if the model says that the sources have no answer. */
  saysNothing = false;

  constructor(options: FilterOptions) {
    this.#options = options;
  }

  /** Returns the text that can be forwarded after one more piece. */
  push(piece: string): string {
    this.#held += piece.replace(/[【】]/g, (bracket) => (bracket === '【' ? '[' : ']'));
    return this.#drain(false);
  }

  /** Returns the text that was held back. */
  end(): string {
    return this.#drain(true);
  }

  #drain(isEnd: boolean): string {
    let passed = '';
    for (;;) {
      const at = this.#held.search(special);
      if (at === -1) break;
      // The space before a marker that is left out goes too.
      const isMarker = !/^[!<]/.test(this.#held.slice(at, at + 1));
      const space = this.#held[at - 1] === ' ' ? ' ' : '';
      passed += this.#held.slice(0, at - space.length);
      this.#held = this.#held.slice(at);
      const taken = this.#take(isEnd);
      if (!taken) {
        this.#held = space + this.#held;
        return passed;
      }
      passed += (taken.text === '' && isMarker ? '' : space) + taken.text;
      this.#held = this.#held.slice(taken.length);
    }
    const tail = isEnd ? -1 : this.#held.search(begins);
    const until = tail === -1 ? this.#held.length : tail;
    const kept = !isEnd && this.#held[until - 1] === ' ' ? until - 1 : until;
    passed += this.#held.slice(0, kept);
    this.#held = this.#held.slice(kept);
    return passed;
  }

  #take(isEnd: boolean): Taken | undefined {
    const held = this.#held;
    if (held.startsWith('<')) return takeTag(held, isEnd);
    if (held.startsWith('(')) return this.#takeParentheses(isEnd);
    if (/^!?\[/.test(held)) return this.#takeBrackets(isEnd);
    return /^NO/i.test(held) ? this.#takeNothing() : this.#takeUrl(isEnd);
  }

  /** The word for no answer, which a model also writes in a sentence. */
  #takeNothing(): Taken {
    const written = this.#held.slice(0, noAnswer.length);
    if (written !== written.toUpperCase()) return { text: written, length: written.length };
    this.saysNothing = true;
    return { text: '', length: written.length };
  }

  /** `(1)` at the end of a part of a sentence, or `(Source 1)` anywhere. */
  #takeParentheses(isEnd: boolean): Taken | undefined {
    const held = this.#held;
    const close = held.indexOf(')');
    const isOpen = close === -1 && held.length <= inParenthesesMax;
    if (!inParentheses.test(held) || (close === -1 && (isEnd || !isOpen))) return { text: '(', length: 1 };
    const next = held.slice(close + 1);
    if (isOpen || (next === '' && !isEnd)) return undefined;
    const inner = held.slice(1, close);
    const isMarker = markers.test(inner) && (/source/i.test(inner) || /^(?:[.,;:!?\n]|\s*[([]|$)/.test(next));
    const text = isMarker ? this.#known(inner) : '';
    return text === '' ? { text: '(', length: 1 } : { text, length: close + 1 };
  }

  /** `[1]`, `[text](address)`, `![image](address)`, or any text in brackets. */
  #takeBrackets(isEnd: boolean): Taken | undefined {
    const held = this.#held;
    const isImage = held.startsWith('!');
    const open = isImage ? 2 : 1;
    const close = held.indexOf(']');
    if (close === -1) return isEnd || held.length > heldMax ? { text: '(', length: open } : undefined;
    const inner = held.slice(open, close);
    if (!isImage && markers.test(inner)) return { text: this.#known(inner), length: close + 1 };
    const next = held[close + 1];
    if (next === undefined && !isEnd) return undefined;
    const plain = inner.replace(/[![\]<>]/g, '');
    if (next !== '(') {
      if (isImage) return takeReference(held, close + 1, isEnd);
      const text = next === '[' || next === ':' || plain !== inner ? `(${plain})` : held.slice(0, close + 1);
      return { text, length: close + 1 };
    }
    const end = held.indexOf(')', close);
    if (end === -1 && !isEnd && held.length < urlMax) return undefined;
    const length = end === -1 ? held.length : end + 1;
    if (isImage) return { text: '', length };
    const url =
      held
        .slice(close + 2, length - 1)
        .trim()
        .split(/\s/)[0] ?? '';
    return { text: this.#options.isAllowed(url) ? held.slice(0, length) : plain, length };
  }

  #takeUrl(isEnd: boolean): Taken | undefined {
    const end = this.#held.search(/[\s<>"'`()[\]]/);
    if (end === -1 && !isEnd && this.#held.length < urlMax) return undefined;
    const length = end === -1 ? this.#held.length : end;
    const url = this.#held.slice(0, length).replace(/[.,;:!?*_]+$/, '');
    const text = this.#options.isAllowed(url) ? url : '(link removed)';
    return { text, length: url.length || length };
  }

  #known(inner: string): string {
    const known = [...inner.matchAll(/A?\d{1,3}/gi)]
      .map(([marker]) => marker.toUpperCase())
      .filter((marker) => this.#options.isKnown(marker));
    return known.map((marker) => `[${marker}]`).join('');
  }
}

interface Taken {
  readonly text: string;
  readonly length: number;
}

/** An image by a reference: `![image][name]`. */
function takeReference(held: string, from: number, isEnd: boolean): Taken | undefined {
  if (held[from] !== '[') return { text: '', length: from };
  const end = held.indexOf(']', from);
  if (end === -1 && !isEnd && held.length < heldMax) return undefined;
  return { text: '', length: end === -1 ? held.length : end + 1 };
}

function takeTag(held: string, isEnd: boolean): Taken | undefined {
  if (/^<\/?[a-z]+$/i.test(held) && held.length < 12 && !isEnd) return undefined;
  if (!loadingTag.test(held)) return { text: '<', length: 1 };
  const end = held.indexOf('>');
  if (end === -1 && !isEnd && held.length < urlMax) return undefined;
  return { text: '', length: end === -1 ? held.length : end + 1 };
}
