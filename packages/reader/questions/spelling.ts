import { stemsOf, type Term, termsOf } from '@octavo/data/terms';
import { aboveOf, type Passage } from '../passages/passage.ts';
import type { QueryTermWeights } from './query-term-weights.ts';
import { isCommonWord } from './question.ts';
import { alternativesOf } from './synonyms.ts';

/**
 * The question with words that the documents spell otherwise, or call by another name: unknown words become the nearest ones of the passages
 * that were found, words that the first passage lacks become synonyms that one of them has, and phrases a word that one of them has. Undefined if there are none.
 */
export function rephrased(
  query: string,
  evidence: QueryTermWeights,
  passages: readonly Passage[],
): string | undefined {
  const texts = passages.map((passage) => `${aboveOf(passage)} ${passage.text}`);
  const near = wordsOf(texts);
  const stems = new Set(Array.from(near.values(), ({ stem }) => stem));
  const first = new Set(stemsOf(texts[0] ?? ''));
  let changed = query;
  for (const term of [...evidence.question.terms].toSorted((one, other) => other.start - one.start)) {
    if (first.has(term.stem) || askedValues.test(term.word)) continue;
    const { start, end } = placeOf(query, term);
    const isName = start > 0 && /^\p{Lu}/u.test(query.slice(start, end));
    const word = insteadOf(term, { near, stems, isName, isKnown: evidence.isKnown(term.stem) });
    if (word === undefined) continue;
    if (start >= 0) changed = changed.slice(0, start) + word + changed.slice(end);
  }
  for (const [phrase, word] of phrases)
    if (stemsOf(word).every((stem) => stems.has(stem))) changed = changed.replace(phrase, word);
  return changed === query ? undefined : changed;
}

/** Words for phrases of everyday language. */
const phrases: readonly (readonly [RegExp, string])[] = [
  [/\b(?:turn|switch)(?:ed|s|ing)? (?:(?:it|this|that|them|these) )?off\b/i, 'disable'],
  [/\b(?:turn|switch)(?:ed|s|ing)? (?:(?:it|this|that|them|these) )?on\b/i, 'enable'],
  [/\b(?:get rid of|throw(?:ing)? away|throw(?:ing)? out|take out|took out)\b/i, 'remove'],
  [/\blog(?:ged|ging)? (?:off|out)\b/i, 'logout'],
  [/\blog(?:ged|ging)? (?:in|on)\b/i, 'login'],
  [/\bat the same time|all at once|side by side|in one go\b/i, 'simultaneously'],
  [/\b(?:on (?:its|their) own|by (?:itself|themselves))\b/i, 'automatically'],
  [/\bby hand\b/i, 'manually'],
  [/\bin (?:capitals|capital letters|caps|all caps)\b/i, 'uppercase'],
  [/\b(?:look|looked|looking) up\b/i, 'search'],
  [/\bset(?:ting)? up\b/i, 'configure'],
  [/\bmake(?:s)? sure\b/i, 'ensure'],
  [/\bgo(?:es)? wrong|went wrong\b/i, 'fails'],
  [/\bstart(?:s|ed|ing)? (?:over|again)\b/i, 'restart'],
  [/\bhow (?:hot|warm|cold)\b/i, 'what temperature'],
  [/\bhow (?:heavy)\b/i, 'what weight'],
  [/\bhow (?:big|large)\b/i, 'what size'],
  [/\bhow (?:tall|high)\b/i, 'what height'],
  [/\bhow fast\b/i, 'what speed'],
];

/** Words that say which value is wanted: another one in their place would ask for something else. */
const askedValues = /^(?:defaults?|standard)$/;

interface NearWord {
  readonly stem: string;
  /** True if it is written in capitals somewhere. */
  readonly isName: boolean;
}

function wordsOf(texts: readonly string[]): Map<string, NearWord> {
  const near = new Map<string, NearWord>();
  for (const text of texts) {
    for (const { word, stem, start } of termsOf(text)) {
      const isName = near.get(word)?.isName || /\p{Lu}/u.test(text.charAt(start));
      near.set(word, { stem, isName });
    }
  }
  return near;
}

function placeOf(query: string, { word }: Term): { start: number; end: number } {
  const found = termsOf(query).findLast((each) => each.word === word);
  return { start: found?.start ?? -1, end: found?.end ?? -1 };
}

function insteadOf(
  term: Term,
  {
    near,
    stems,
    isName,
    isKnown,
  }: {
    near: ReadonlyMap<string, NearWord>;
    stems: ReadonlySet<string>;
    isName: boolean;
    isKnown: boolean;
  },
): string | undefined {
  const { word } = term;
  if (isName) return isKnown ? undefined : misspelledName(word, near);
  const american = inAmerican(word);
  if (american !== word && stemsOf(american).every((each) => stems.has(each))) return american;
  const synonym = alternativesOf(term).find((each) => stemsOf(each).every((part) => stems.has(part)));
  if (synonym) return synonym;
  if (isKnown || word.length < typoLengthMin || /\d/.test(word)) return undefined;
  const common = commonWordFor(word);
  if (common !== undefined) return common;
  const [best] = [...near.keys()]
    .filter((each) => each.length >= typoLengthMin && isTypo(word, each))
    .toSorted((one, other) => Math.abs(one.length - word.length) - Math.abs(other.length - word.length));
  return best;
}

/** A name has no synonyms, and another one that is spelled alike is mostly of something else: `Exim` is not `exit`. */
function misspelledName(word: string, near: ReadonlyMap<string, NearWord>): string | undefined {
  if (word.length < nameLengthMin) return undefined;
  const alike = [...near].filter(([each, { isName }]) => isName && differsByOne(word, each));
  return alike.length === 1 ? alike[0]?.[0] : undefined;
}

const typoLengthMin = 4;
const wrongLetterMin = 5;
const nameLengthMin = 6;

/** The common word that a word is with two letters that changed places. */
function commonWordFor(word: string): string | undefined {
  for (let at = 0; at < word.length - 1; at++) {
    const swapped = word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2);
    if (isCommonWord(swapped)) return swapped;
  }
  return undefined;
}

/** American spelling of a British word. */
function inAmerican(word: string): string {
  return word
    .replace(/isation/, 'ization')
    .replace(/ise(d|s|r|rs)?$/, 'ize$1')
    .replace(/ising$/, 'izing')
    .replace(/yse(d|s|r)?$/, 'yze$1')
    .replace(/(?<=[a-z]{3})our(s|ed|ing|ite|ites)?$/, 'or$1')
    .replace(/(?<=[a-z]{2}[bt])re(s?)$/, 'er$1')
    .replace(/ogue(s?)$/, 'og$1')
    .replace(/(?<=[aeiou])ll(ed|ing|er)$/, 'l$1')
    .replace(/(?<=[a-z])ence(s?)$/, (all, plural: string) =>
      /^(?:lic|def|off|pret)ence/.test(word) ? `ense${plural}` : all,
    );
}

/**
 * True if a word is another one that was mistyped: it differs by one letter, or by two in long words. A program is often named after a word
 * that it makes longer or ends otherwise, such as `firewalld`, and a short one is seldom mistyped by a wrong letter.
 */
function isTypo(word: string, other: string): boolean {
  if (!differsByAtMost(word.length >= 8 ? 2 : 1, word, other)) return false;
  if (word.startsWith(other)) return word.at(-1) === word.at(-2);
  const isSwapped = [...word].sort().join('') === [...other].sort().join('');
  if (isSwapped || word.length !== other.length) return true;
  return word.length >= wrongLetterMin && word.at(-1) === other.at(-1);
}

function differsByOne(one: string, other: string): boolean {
  return differsByAtMost(1, one, other);
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
