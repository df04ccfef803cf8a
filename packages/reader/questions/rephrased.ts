import { stemsOf, type Term, termsOf } from '@octavo/data/terms';
import { aboveOf, type Passage } from '../passages/passage.ts';
import type { QueryTermWeights } from './query-term-weights.ts';
import { alternativesOf } from './synonyms.ts';

/** Words that say which value is wanted: another one in their place would ask for something else. */
const askedValues = /^(?:defaults?|standard)$/;

/**
 * The question with words that the documents have: synonyms in the place of words that the first passage lacks, and for words that no
 * document has the nearest ones of the passages. Undefined if there are none. A name has no synonyms, and another one that is spelled
 * alike is mostly of something else: `Exim` is not `exit`.
 */
export function rephrased(
  query: string,
  evidence: QueryTermWeights,
  passages: readonly Passage[],
): string | undefined {
  const texts = passages.map((passage) => `${aboveOf(passage)} ${passage.text}`);
  const near = new Map(texts.flatMap(termsOf).map(({ word, stem }) => [word, stem]));
  const stems = new Set(near.values());
  const first = new Set(stemsOf(texts[0] ?? ''));
  const insteadOf = (term: Term) =>
    alternativesOf(term).find((each) => stemsOf(each).every((part) => stems.has(part))) ??
    (evidence.isKnown(term.stem) ? undefined : nearestTo(term.word, near.keys()));
  let changed = query;
  for (const term of evidence.question.terms) {
    if (first.has(term.stem) || askedValues.test(term.word)) continue;
    const { start = 0, end = 0 } = termsOf(changed).findLast(({ word }) => word === term.word) ?? {};
    if (end === 0 || (start > 0 && /^\p{Lu}/u.test(changed.slice(start)))) continue;
    const word = insteadOf(term);
    if (word !== undefined) changed = changed.slice(0, start) + word + changed.slice(end);
  }
  return changed === query ? undefined : changed;
}

/** The word that a mistyped one may be. */
function nearestTo(word: string, others: Iterable<string>): string | undefined {
  const distance = (other: string) => Math.abs(other.length - word.length);
  return [...others]
    .filter((other) => isTypo(word, other))
    .toSorted((one, other) => distance(one) - distance(other))[0];
}

const typoLengthMin = 4;
const wrongLetterMin = 5;

/**
 * True if a word is another one that was mistyped: it differs by one letter, or by two in long words. A program is often named after a word
 * that it makes longer or ends otherwise, such as `firewalld`, and a short one is seldom mistyped by a wrong letter.
 */
function isTypo(word: string, other: string): boolean {
  if (!differsByAtMost(word.length >= 8 ? 2 : 1, word, other)) return false;
  if (word.length < typoLengthMin || other.length < typoLengthMin || /\d/.test(word)) return false;
  if (word.startsWith(other)) return word.at(-1) === word.at(-2);
  const isSwapped = [...word].sort().join('') === [...other].sort().join('');
  if (isSwapped || word.length !== other.length) return true;
  return word.length >= wrongLetterMin && word.at(-1) === other.at(-1);
}

/** Letters that changed places count as one. */
function differsByAtMost(most: number, one: string, other: string): boolean {
  if (one === other || one[0] !== other[0] || Math.abs(one.length - other.length) > most) return false;
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let at = 1; at <= one.length; at++) {
    const next = [at];
    for (let index = 1; index <= other.length; index++) {
      const same = one[at - 1] === other[index - 1] ? 0 : 1;
      let cost = Math.min((row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1, (row[index - 1] ?? 0) + same);
      if (at > 1 && index > 1 && one[at - 1] === other[index - 2] && one[at - 2] === other[index - 1])
        cost = Math.min(cost, (before[index - 2] ?? 0) + 1);
      next.push(cost);
    }
    [before, row] = [row, next];
  }
  return (row[other.length] ?? most + 1) <= most;
}
