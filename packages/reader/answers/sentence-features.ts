import { stemsOf, type Term, termsOf } from '@octavo/data/terms';
import type { Span } from '@octavo/documents';
import { aboveOf, type Passage } from '../passages/passage.ts';
import type { QueryTermWeights as Evidence } from '../questions/query-term-weights.ts';
import { isCommonWord } from '../questions/question.ts';
import { logit } from './logit.ts';
import { isQuantity, isTime, namesPlace, type QuestionType, questionType } from './question/question-type.ts';
import { type Unit, unitsOf } from './structure.ts';

/** Names of the features of a sentence that may answer a question, each from about 0 to 1. */
export const sentenceFeatureNames = [
  'coverage',
  'localCoverage',
  'nearStems',
  'wholeWords',
  'firstWord',
  'bigrams',
  'run',
  'withBefore',
  'pronoun',
  'headings',
  'time',
  'quantity',
  'numberNear',
  'person',
  'place',
  'newWords',
  'isSentence',
  'passageScore',
  'passageRank',
] as const;

/** A sentence or a row of a passage, by its place in the passage. */
export interface CandidateSentence extends Unit {
  readonly features: Float32Array;
  /** Stems of the sentence and its context: its term, its list, the sentence before, headings. */
  readonly stems: ReadonlySet<string>;
  readonly context: ReadonlySet<string>;
}

/** The sentences of passages, best passage first, each list as one passage. Scores are from 0 to 1. */
export function sentenceCandidates(
  ranked: readonly { readonly passage: Passage; readonly score: number }[],
  evidence: Evidence,
): CandidateSentence[][] {
  const read = ranked.map(({ passage }) => readSentences(passage, evidence));
  const best = Math.max(...ranked.map(({ score }) => logit(score)));
  const asked = {
    evidence,
    type: questionType(evidence.question.text),
    stems: termsOf(evidence.question.text).map(({ stem }) => stem),
    local: localRarities(read.flat(), evidence),
  };
  return ranked.map(({ passage, score }, rank) => {
    const place = [(logit(score) - best) / 3, 1 / (1 + rank)];
    const above = stemsOf(aboveOf(passage));
    let last: ReadSentence | undefined;
    return (read[rank] ?? []).map((sentence) => {
      const { unit } = sentence;
      // Entries say nothing of each other.
      const before = last?.unit.entry === unit.entry ? (last?.stems ?? none) : none;
      const headings = new Set([...above, ...stemsOf(unit.term)]);
      const context = new Set([...headings, ...sentence.stems, ...(unit.kind === 'row' ? [] : before)]);
      const features = Float32Array.of(
        ...wordFeatures(sentence, asked),
        ...contextFeatures(sentence, { before, headings }, evidence),
        ...typeFeatures(sentence, asked.type),
        Math.min(1, sentence.fresh.length / 10),
        /[.!?…。！？:"”')\]]$/u.test(sentence.text) ? 1 : 0,
        ...place,
      );
      last = sentence;
      return { ...unit, features, stems: sentence.stems, context };
    });
  });
}

const none: ReadonlySet<string> = new Set();

/** A question with the statistics of its words. */
interface Asked {
  readonly evidence: Evidence;
  readonly type: QuestionType;
  /** Of all its words, in their order. */
  readonly stems: readonly string[];
  /** Rarity of each word of the question among the sentences. */
  readonly local: ReadonlyMap<string, number>;
}

/** Scores the words of the question that it has: by weight, by spelling, and by order. */
function wordFeatures({ stems, terms }: ReadSentence, { evidence, stems: asked, local }: Asked): number[] {
  let [found, total] = [0, 0];
  for (const [stem, weight] of local) {
    total += weight;
    if (stems.has(stem)) found += weight;
  }
  const whole = new Set(terms.filter(({ stem, word }) => evidence.wordOf(stem) === word).map(stemOf));
  const first = evidence.question.terms[0];
  const pairs = new Set(terms.slice(1).map(({ stem }, index) => `${terms[index]?.stem} ${stem}`));
  const askedPairs = new Set(asked.slice(1).map((stem, index) => `${asked[index]} ${stem}`));
  const shared = [...askedPairs].filter((pair) => pairs.has(pair)).length;
  return [
    evidence.share((stem) => stems.has(stem)),
    found / (total || 1),
    evidence.weighted((stem) => (stems.has(stem) ? 1 : nearness(stem, stems))),
    evidence.share((stem) => whole.has(stem)),
    first && stems.has(first.stem) ? 1 : 0,
    shared / (askedPairs.size || 1),
    Math.min(1, longestRun(asked, terms.map(stemOf)) / 6),
  ];
}

const pronouns =
  /^(he|she|it|this|these|those|they|his|her|its|their|such|both|one|another|however|there)\b/i;

/** Scores the words of the question before it or above it. A pronoun stands for something before it. */
function contextFeatures(
  { stems, text }: ReadSentence,
  { before, headings }: { readonly before: ReadonlySet<string>; readonly headings: ReadonlySet<string> },
  evidence: Evidence,
): number[] {
  return [
    evidence.share((stem) => stems.has(stem) || before.has(stem)),
    pronouns.test(text) ? evidence.share((stem) => !stems.has(stem) && before.has(stem)) : 0,
    evidence.share((stem) => stems.has(stem) || headings.has(stem)),
  ];
}

const nearMax = 4;

/** Scores if it has something of the kind that is asked for, which is not in the question. */
function typeFeatures({ text, fresh, places }: ReadSentence, type: QuestionType): number[] {
  const isNear = (at: number) => places.some((place) => Math.abs(place - at) <= nearMax);
  const isNumber = (term: Term) => (type.time && isTime(term)) || (type.quantity && isQuantity(term));
  const names = fresh.filter(({ term }) => /\p{Lu}/u.test(text.charAt(term.start)));
  return [
    type.time && fresh.some(({ term }) => isTime(term)),
    type.quantity && fresh.some(({ term }) => isQuantity(term)),
    fresh.some(({ term, at }) => isNumber(term) && isNear(at)),
    type.person && names.length > 0,
    type.place && names.some(({ term }) => term.start > 0) && namesPlace(text),
  ].map(Number);
}

/** Words that few of the sentences have tell them apart. */
function localRarities(sentences: readonly ReadSentence[], evidence: Evidence): Map<string, number> {
  const rarities = new Map<string, number>();
  for (const { stem } of evidence.question.terms) {
    const count = sentences.filter(({ stems }) => stems.has(stem)).length;
    if (count > 0) rarities.set(stem, evidence.rarityOf(stem) * Math.log(1 + sentences.length / count));
  }
  return rarities;
}

interface ReadSentence extends Span {
  readonly unit: Unit;
  readonly text: string;
  readonly terms: readonly Term[];
  readonly stems: ReadonlySet<string>;
  /** Places of the question's words among its words. */
  readonly places: readonly number[];
  /** Words that say something and are not in the question. */
  readonly fresh: readonly { readonly term: Term; readonly at: number }[];
}

function readSentences(passage: Passage, evidence: Evidence): ReadSentence[] {
  return unitsOf(passage.text).map((unit) => {
    const { start, end, text } = unit;
    const terms = termsOf(text);
    const placed = terms.map((term, at) => ({ term, at }));
    const isAsked = ({ stem }: Term) => evidence.wordOf(stem) !== undefined;
    return {
      unit,
      start,
      end,
      text,
      terms,
      stems: new Set(terms.map(stemOf)),
      places: placed.filter(({ term }) => isAsked(term)).map(({ at }) => at),
      fresh: placed.filter(({ term }) => !isAsked(term) && !isCommonWord(term.word)),
    };
  });
}

/** Returns the length of the longest run of words that both have. */
function longestRun(one: readonly string[], other: readonly string[]): number {
  let longest = 0;
  let above = new Uint16Array(other.length + 1);
  for (const stem of one) {
    const row = new Uint16Array(other.length + 1);
    for (const [index, against] of other.entries()) {
      if (stem === against) row[index + 1] = (above[index] ?? 0) + 1;
      longest = Math.max(longest, row[index + 1] ?? 0);
    }
    above = row;
  }
  return longest;
}

const prefixMin = 5;

/** Returns the longest shared prefix of a missing stem with one of the sentence's stems: `compress` and `compressib`. */
function nearness(stem: string, stems: ReadonlySet<string>): number {
  if (stem.length < prefixMin) return 0;
  const prefix = stem.slice(0, prefixMin);
  let best = 0;
  for (const other of stems) {
    if (!other.startsWith(prefix)) continue;
    let length = prefixMin;
    while (length < stem.length && other[length] === stem[length]) length++;
    best = Math.max(best, length / Math.max(stem.length, other.length));
  }
  return best;
}

function stemOf({ stem }: Term): string {
  return stem;
}
