import type { Token } from './tokens.ts';

/** Valence of a word in two published lists, each from -1 to 1, 0 if the list is silent. */
export interface Valence {
  readonly first: number;
  readonly second: number;
  readonly mean: number;
}

export class Lexicon {
  readonly entries: ReadonlyMap<string, Valence>;

  constructor(entries: ReadonlyMap<string, Valence>) {
    this.entries = entries;
  }

  valenceOf(word: string): Valence {
    const found = this.entries.get(word);
    if (found !== undefined) return found;
    return this.#nearest(word) ?? silent;
  }

  /** The word under its other spellings: hashtag, doubled letters, possessive, hyphened pair. */
  #nearest(word: string): Valence | undefined {
    if (word.charCodeAt(0) === 0x23) return this.entries.get(word.slice(1));
    if (word.includes('-')) return sum(word.split('-').map((part) => this.entries.get(part) ?? silent));
    if (word.endsWith("'s")) return this.entries.get(word.slice(0, -2));
    return this.entries.get(word.replace(twoAlike, '$1'));
  }
}

const silent: Valence = { first: 0, second: 0, mean: 0 };
const twoAlike = /(.)\1/g;

function sum(parts: readonly Valence[]): Valence {
  return parts.reduce((a, b) => ({
    first: a.first + b.first,
    second: a.second + b.second,
    mean: a.mean + b.mean,
  }));
}

/** Sum of the listed words of a text, as numbers and as coarse marks. */
export interface Signals {
  readonly numbers: number[];
  readonly marks: string[];
}

export function signalsOf(tokens: readonly Token[], valences: readonly Valence[]): Signals {
  const numbers: number[] = [];
  const marks: string[] = [];
  for (const list of ['first', 'second', 'mean'] as const)
    weigh({ tokens, scores: valences.map((one) => one[list]), numbers, marks });
  numbers.push(...manner(tokens));
  return { numbers, marks };
}

export const numbersPerText = 3 * 12 + 9;

interface Weighing {
  readonly tokens: readonly Token[];
  readonly scores: readonly number[];
  readonly numbers: number[];
  readonly marks: string[];
}

function weigh({ tokens, scores, numbers, marks }: Weighing): void {
  const lastBut = tokens.findLastIndex((token) => token.text === 'but');
  let [good, bad, goodSum, badSum, best, worst, last, afterBut, shouted] = [0, 0, 0, 0, 0, 0, 0, 0, 0];
  let turned = false;
  for (const [index, token] of tokens.entries()) {
    let score = scores[index] ?? 0;
    if (score === 0) continue;
    score *= degree(tokens, index);
    if (token.shouted) {
      score *= 1.2;
      shouted += score;
    }
    if (token.negated) {
      score *= -0.6;
      turned = true;
    }
    if (score > 0) {
      good++;
      goodSum += score;
      best = Math.max(best, score);
    } else {
      bad++;
      badSum -= score;
      worst = Math.max(worst, -score);
    }
    last = score;
    if (lastBut >= 0 && index > lastBut) afterBut += score;
  }
  const total = goodSum - badSum;
  const balance = total / Math.sqrt(total * total + 1);
  numbers.push(Math.min(good, 5) / 3, Math.min(bad, 5) / 3, Math.min(goodSum, 3), Math.min(badSum, 3));
  numbers.push(best, worst, last, balance, Math.abs(balance), turned ? 1 : 0, afterBut, shouted);
  marks.push(`count ${Math.min(good, 3)} ${Math.min(bad, 3)}`, `balance ${Math.round(balance * 6)}`);
  marks.push(`last ${Math.round(last * 4)}`, `span ${Math.round(best * 4)} ${Math.round(worst * 4)}`);
  marks.push(good + bad === 0 ? 'silent' : 'heard');
}

function degree(tokens: readonly Token[], index: number): number {
  const [one, two] = [tokens[index - 1]?.text ?? '', tokens[index - 2]?.text ?? ''];
  const stronger = intensifiers.has(one) || intensifiers.has(two) ? 1.3 : 1;
  return stronger * (softeners.has(one) || softeners.has(two) ? 0.7 : 1);
}

const intensifiers = new Set(
  'very really so extremely absolutely totally incredibly super most too such fucking freaking completely highly deeply utterly truly amazingly'.split(
    ' ',
  ),
);
const softeners = new Set('slightly somewhat kinda sorta barely little bit less partly almost'.split(' '));

function manner(tokens: readonly Token[]): number[] {
  const counted = (test: (token: Token) => boolean, most: number) =>
    Math.min(
      tokens.reduce((total, token) => total + (test(token) ? 1 : 0), 0),
      most,
    );
  return [
    counted((token) => token.shouted, 5) / 3,
    counted((token) => token.drawnOut, 3) / 2,
    counted((token) => token.text.includes('!'), 3) / 2,
    counted((token) => token.text.includes('?'), 3) / 2,
    counted((token) => token.negated, 6) / 4,
    Math.min(tokens.length, 60) / 20,
    counted((token) => token.text.charCodeAt(0) === 0x23, 4) / 2,
    counted((token) => token.text === '@', 4) / 2,
    counted((token) => token.text.charCodeAt(0) === 0x30, 4) / 2,
  ];
}
