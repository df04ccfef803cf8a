import { stemsOf } from '@octavo/data/terms';
import { rarityInEnglish } from '../meaning/word-vectors.ts';
import type { Found } from '../passages/found.ts';
import type { Passage } from '../passages/passage.ts';
import { withBest } from '../passages/source.ts';
import type { QueryTermWeights as Evidence } from '../questions/query-term-weights.ts';
import { isFunctionWord, type Language } from '../wording/language.ts';
import { texts } from '../wording/texts.ts';
import type { Answer, DocumentCitation } from './answer.ts';
import { judgeFeatureNames, judgeFeatures } from './judge.ts';
import { bestPlaces, type Place, type QuotedSentence, shortened } from './places.ts';
import { quoteFor } from './quote.ts';
import { requirementsOf } from './requirements.ts';
import model from './sentence-model.json' with { type: 'json' };

/** Most places quoted of those that may answer. */
const closestMax = 3;
const closestLengthMax = 1_600;
/** Documents say nothing about a question below all of these; the last is of its words in a place. */
const nearMin = { retrieval: 0.2, likelihood: 0.3, share: 0.33 };
/** A place below is not likely to answer. */
const likelyMin = 0.3;
const surelyMin = 0.5;
/** From this confidence on more than three of four quotes are right, and one stands alone. */
const aloneMin = 0.7;
/** Log odds of an answer by those of the judge, as they are on questions of which one in three has no answer; see docs/decisions/042. */
const calibration = { slope: 0.6, intercept: 0.53 };
const uncoveredMax = 0.1;

/** An answer, with the passages that are shown as its sources. */
export interface Answered<F extends Found = Found> {
  readonly answer: Answer;
  readonly found: F;
  /** Score of the judge, by which answers to the same question are compared. */
  readonly likelihood: number;
  /** True if the first place is likely to answer the question, though it may not be sure enough to stand alone. */
  readonly isLikely: boolean;
}

/** Options of an answer in quotes. */
export interface AnswerOptions {
  /** Number of passages that stay as sources; all by default. */
  readonly sourcesMax?: number;
  /** Language of the words around quotes; English by default. */
  readonly language?: Language;
  /** Weights of the judge; those that were learned by default. */
  readonly judge?: readonly number[] | undefined;
}

/**
 * Quotes the place that answers the question, or those that come closest. It never says anything that is not in a document. The passages
 * with the best places come first among the sources, each with its best place.
 */
export function extractiveAnswer<F extends Found>(
  found: F,
  { sourcesMax = found.ranked.length, language = 'en', judge }: AnswerOptions = {},
): Answered<F> {
  const places = bestPlaces(found).filter(({ text }) => shownText(text) !== '');
  const likelihood = likelihoodIn(places, found, judge);
  const confidence = calibrated(likelihood);
  const isAbout = found.confidence >= surelyMin || (likelihood >= surelyMin && isCovered(places, found));
  const isLikely = places.length > 0 && isAbout && likelihood >= likelyMin;
  const words = texts[language];
  const first = firstOfPassages(places).map(quoted);
  const kept = withBestFirst(found, first, sourcesMax);
  const common = { found: kept, likelihood, isLikely };
  if (isLikely && confidence >= aloneMin)
    return {
      ...common,
      answer: {
        ...composed(first.slice(0, 1).map((each) => ({ ...each, sourceIndex: 1 }))),
        kind: 'quote',
        abstained: false,
        confidence,
      },
    };
  const isNear =
    found.confidence >= nearMin.retrieval ||
    likelihood >= nearMin.likelihood ||
    first.slice(0, closestMax).some((place) => shareAround(place, found.evidence) >= nearMin.share);
  if (!isNear || first.length === 0)
    return {
      ...common,
      answer: { text: words.nothing, citations: [], kind: 'none', abstained: true, confidence },
    };
  const quotes = closestOf(first).slice(0, kept.ranked.length);
  const numbered = quotes.map((quote) => {
    const source = kept.ranked.find(({ passage }) => passage === quote.passage)?.source;
    return { ...quote, sourceIndex: source?.index ?? 1 };
  });
  return {
    ...common,
    answer: { ...composed(numbered, `${words.closest}\n\n`), kind: 'closest', abstained: true, confidence },
  };
}

/** Share of the words of a question, by their rarity in English, that a place has or what tells what it is about. */
function shareAround({ unit, passage }: QuotedSentence, { question }: Evidence): number {
  const around = unit.context.union(new Set(stemsOf(passage.text)));
  let [share, total] = [0, 0];
  for (const { word, stem } of question.terms) {
    const weight = isFunctionWord(word) ? 0 : rarityInEnglish(word);
    total += weight;
    if (around.has(stem)) share += weight;
  }
  return total === 0 ? 0 : share / total;
}

/** The best place of each passage, best first. */
function firstOfPassages(places: readonly Place[]): Place[] {
  const first = new Map<Passage, Place>();
  for (const place of places) if (!first.has(place.passage)) first.set(place.passage, place);
  return [...first.values()];
}

/** The first places that say different things, as far as they fit. */
function closestOf(places: readonly QuotedSentence[]): QuotedSentence[] {
  const chosen: QuotedSentence[] = [];
  let length = 0;
  for (const place of places) {
    if (chosen.some(({ text }) => text === place.text)) continue;
    if (chosen.length === closestMax || (length > 0 && length + place.text.length > closestLengthMax)) break;
    chosen.push(place);
    length += place.text.length;
  }
  return chosen;
}

/** The passages with their best places, those with the best ones first, and renumbered. */
function withBestFirst<F extends Found>(found: F, places: readonly QuotedSentence[], most: number): F {
  const marked = withBestPlaces(found, places).ranked;
  const first = places
    .slice(0, closestMax)
    .flatMap(({ passage }) => marked.find((one) => one.passage === passage) ?? []);
  const ranked = [...first, ...marked.filter((one) => !first.includes(one))]
    .slice(0, most)
    .map((one, index) => ({ ...one, source: { ...one.source, index: index + 1 } }));
  const documentCount = new Set(ranked.map(({ source }) => source.document_id)).size;
  return { ...found, ranked, documentCount };
}

/** The passages in their order, with the place in each that comes closest to the question. */
export function withBestPlaces<F extends Found>(
  found: F,
  places: readonly QuotedSentence[] = firstOfPassages(bestPlaces(found)).map(quoted),
): F {
  const ranked = found.ranked.map((one) => {
    const { passage, source } = one;
    const place = places.find((each) => each.passage === passage);
    if (!place) return one;
    const span = { start: place.start - passage.start, end: place.end - passage.start };
    return { ...one, source: withBest(source, passage, span) };
  });
  return { ...found, ranked };
}

/** The place around a sentence, which is enough to understand it. */
function quoted(sentence: QuotedSentence): QuotedSentence {
  const { passage, unit } = sentence;
  const { start, end } = quoteFor(unit, passage.text);
  const text = shortened(passage.text.slice(start, end));
  return { ...sentence, text, start: passage.start + start, end: passage.start + start + text.length };
}

function calibrated(likelihood: number): number {
  if (likelihood <= 0) return 0;
  const odds = Math.log(likelihood / Math.max(1 - likelihood, Number.EPSILON));
  return 1 / (1 + Math.exp(-calibration.slope * odds - calibration.intercept));
}

/** The features of the place that would be quoted first, and its text; undefined if there is none. */
export function judgeInput(found: Found): { features: Float32Array; quote: string } | undefined {
  const places = bestPlaces(found);
  const [best] = places;
  return best && { features: featuresOf(places, found), quote: quoted(best).text };
}

function featuresOf(places: readonly Place[], { ranked, confidence, evidence }: Found): Float32Array {
  const place = places[0] as Place;
  const next = places.find(({ passage }) => passage !== place.passage)?.score;
  const passages = ranked.map(({ passage }) => passage);
  const { text: quote } = quoted(place);
  const { names } = requirementsOf(evidence);
  return judgeFeatures({ place, quote, next, names, confidence, passages }, evidence);
}

/** A place that has all that the question says is about it, whatever the words of its passage tell by themselves. */
function isCovered(places: readonly Place[], found: Found): boolean {
  return (featuresOf(places, found)[judgeFeatureNames.indexOf('uncovered')] ?? 1) <= uncoveredMax;
}

/** Score of the first place. */
function likelihoodIn(
  places: readonly Place[],
  found: Found,
  weights: readonly number[] = model.judge,
): number {
  if (places.length === 0) return 0;
  const features = featuresOf(places, found);
  const sum = features.reduce((total, value, index) => total + value * (weights[index] ?? 0), 0);
  return 1 / (1 + Math.exp(-sum - (weights[features.length] ?? 0)));
}

const images = /!\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?/g;
const loadingTags =
  /<\/?(?:img|image|picture|iframe|script|video|audio|source|object|embed|link|svg|style|form|input|base|meta)\b[^>]*>?/gi;
const foreignMarkers = /\[(\s*A?\d{1,3}(?:\s*[,;]\s*A?\d{1,3})*\s*)\]/g;

/** A quote as answers show it: without images, and with numbers in brackets that cannot be taken for those of sources. */
function shownText(quote: string): string {
  const safe = quote.replace(images, '$1').replace(loadingTags, '').replace(foreignMarkers, '($1)').trim();
  // Lines that only the width of a page ended go on; rows and points stay lines.
  return safe
    .replace(/(?<=[^\n:;|])\n(?! *(?:[-*•‣+]|\d+[.)]) )(?=[ \t]*[\p{L}(])(?![^\n]{0,40}[:=|] )/gu, ' ')
    .replace(/(?<=\S) {2,}(?=\S)/g, ' ');
}

/** A part of a passage to quote, in the units of the passage. */
export interface Quote {
  readonly passage: Passage;
  readonly start: number;
  readonly end: number;
  /** The `index` of its source. */
  readonly sourceIndex: number;
}

/** Quotes as one text after an introduction, each with the number of its source. */
export function answerOf(quotes: readonly Quote[], introduction = ''): Pick<Answer, 'text' | 'citations'> {
  const sentences = quotes.map(({ passage, start, end, sourceIndex }) => {
    const text = shortened(passage.text.slice(start, end));
    const from = passage.start + start;
    return { text, passage, sourceIndex, start: from, end: from + text.length };
  });
  return composed(sentences, introduction);
}

/** The sentences as one text, each with the number of its source. */
function composed(
  sentences: readonly Pick<QuotedSentence, 'text' | 'passage' | 'sourceIndex' | 'start' | 'end'>[],
  introduction = '',
): Pick<Answer, 'text' | 'citations'> {
  let text = introduction;
  const citations = sentences.map((sentence, index): DocumentCitation => {
    if (index > 0) text += '\n\n';
    const answer_start = text.length;
    text += shownText(sentence.text);
    const answer_end = text.length;
    text += ` [${sentence.sourceIndex}]`;
    return {
      kind: 'document',
      answer_start,
      answer_end,
      source_index: sentence.sourceIndex,
      document_id: sentence.passage.documentId,
      chunk_id: sentence.passage.chunkId,
      quote: sentence.text,
      quote_start: sentence.start,
      quote_end: sentence.end,
      support: 1,
    };
  });
  return { text, citations };
}
