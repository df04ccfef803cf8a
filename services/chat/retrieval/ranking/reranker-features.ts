import { stemsOf, type Term, termsOf } from '@octavo/data/terms';
import { type Span, sentencesOf } from '@octavo/documents';
import type { Passage } from '@octavo/reader';
import type { QueryTermWeights } from '@octavo/reader/questions';
import type { Candidate } from './fusion.ts';
import { feedbackFor, type PassageWords } from './relevance-feedback.ts';

/** Features of a question and a passage for the reranker, each from 0 to 1. More of each can only speak for a passage. */
export const featureNames = [
  'vector',
  'heading',
  'title',
  'sentence',
  'pairs',
  'wholeWords',
  'names',
  'isFirst',
  'feedback',
] as const;

/** A passage as its words, which are kept for the next question. */
export interface ReadPassage extends PassageWords {
  readonly passage: Passage;
  readonly terms: readonly Term[];
  readonly sentences: readonly Span[];
  /** For each word the sentence that it is in. */
  readonly sentenceOf: Uint16Array;
}

/** The words of a passage, once they are asked for. */
export class LazyPassage {
  readonly passage: Passage;
  #read: ReadPassage | undefined;

  constructor(passage: Passage) {
    this.passage = passage;
  }

  get read(): ReadPassage {
    this.#read ??= readPassage(this.passage);
    return this.#read;
  }
}

function readPassage(passage: Passage): ReadPassage {
  const terms = termsOf(passage.text);
  const stems = new Map<string, number>();
  for (const { stem } of terms) stems.set(stem, (stems.get(stem) ?? 0) + 1);
  const sentenceOf = new Uint16Array(terms.length);
  const sentences = sentencesOf(passage.text);
  let sentence = 0;
  for (const [index, { start }] of terms.entries()) {
    while (sentence < sentences.length - 1 && start >= (sentences[sentence + 1]?.start ?? 0)) sentence++;
    sentenceOf[index] = sentence;
  }
  return {
    passage,
    terms,
    sentences,
    sentenceOf,
    stems,
    headingStems: new Set(stemsOf(passage.section)),
    titleStems: new Set(stemsOf(passage.title)),
  };
}

/** Features of all candidates for one question; feedback needs all of them together. */
export function featuresFor(
  candidates: readonly (readonly [Candidate, ReadPassage])[],
  evidence: QueryTermWeights,
): Float32Array[] {
  const feedback = feedbackFor(
    candidates.map(([, read]) => read),
    evidence,
  );
  return candidates.map(([{ vectorScore }, read]) =>
    Float32Array.of(
      vectorScore,
      evidence.share((stem) => read.headingStems.has(stem)),
      evidence.share((stem) => read.titleStems.has(stem)),
      ...wordFeatures(read, evidence),
      evidence.nameShare((stem) => read.stems.has(stem)),
      read.passage.place === 0 ? 1 : 0,
      feedback(read),
    ),
  );
}

/** The most that one sentence has, which pairs of words are near each other, and which words are the same and not only their stems. */
function wordFeatures({ terms, sentenceOf }: ReadPassage, evidence: QueryTermWeights): number[] {
  const perSentence = new Map<number, Set<string>>();
  const places = new Map<string, number[]>();
  const whole = new Set<string>();
  for (const [index, { stem, word }] of terms.entries()) {
    const asked = evidence.wordOf(stem);
    if (asked === undefined) continue;
    if (asked === word) whole.add(stem);
    addTo(places, stem, index);
    const sentence = sentenceOf[index] as number;
    const known = perSentence.get(sentence);
    if (known) known.add(stem);
    else perSentence.set(sentence, new Set([stem]));
  }
  const shares = Array.from(perSentence.values(), (found) => evidence.share((stem) => found.has(stem)));
  return [Math.max(0, ...shares), pairShare(places, evidence), evidence.share((stem) => whole.has(stem))];
}

/** The sentence that has most of the question. */
export function bestSentence(
  { terms, sentences, sentenceOf }: ReadPassage,
  evidence: QueryTermWeights,
): Span | undefined {
  const weights = new Float64Array(sentences.length);
  const seen = new Set<string>();
  for (const [index, { stem }] of terms.entries()) {
    const rarity = evidence.rarityOf(stem);
    const key = `${sentenceOf[index]} ${stem}`;
    if (rarity === 0 || seen.has(key)) continue;
    seen.add(key);
    weights[sentenceOf[index] as number] = (weights[sentenceOf[index] as number] ?? 0) + rarity;
  }
  return sentences[weights.indexOf(Math.max(...weights))];
}

const pairDistance = 3;

/** Returns the share of the question's neighboring words that are near each other, in their order, by the places of each stem. */
function pairShare(places: ReadonlyMap<string, readonly number[]>, evidence: QueryTermWeights): number {
  let [found, total] = [0, 0];
  for (const { first, second, weight } of evidence.pairs) {
    total += weight;
    const [ones, others] = [places.get(first) ?? [], places.get(second) ?? []];
    if (ones.some((one) => others.some((other) => other > one && other - one <= pairDistance)))
      found += weight;
  }
  return total === 0 ? 0 : found / total;
}

function addTo(map: Map<string, number[]>, key: string, value: number): void {
  const known = map.get(key);
  if (known) known.push(value);
  else map.set(key, [value]);
}
