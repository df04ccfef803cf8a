import type { Evidence, Found, Passage } from '../retrieval/index.ts';
import type { Answer, DocumentCitation } from './answer.ts';
import { judgeFeatureNames, judgeFeatures } from './judge.ts';
import { bestPlaces, type Place, type QuotedSentence, shortened } from './places.ts';
import { quoteFor } from './quote.ts';
import { isComplete, requirementsOf } from './requirements.ts';
import model from './sentence-model.json' with { type: 'json' };

/** A second place is quoted only if it is nearly as likely to answer, and only so much in all. */
const secondShare = 0.5;
const answerLengthMax = 1_100;

export const nothingFound = 'The documents do not say anything about this.';
const closest = 'I am not sure, but this comes closest:';
/** Below the first, nothing is quoted; below the second, the answer says that it is not sure. */
const confidenceMin = 0.3;
const unsureBelow = 0.5;
/** From these values on, a question lacks something without which nothing answers it, however alike the rest is. */
const decisive = {
  exact: 0.01,
  kind: 0.01,
  column: 1,
  names: 0.6,
  nameNowhere: 1,
  muchUnknown: 1,
  subject: 0.9,
  untold: 1,
} as const satisfies Partial<Record<(typeof judgeFeatureNames)[number], number>>;
const decidedShare = 0.2;
const uncoveredMax = 0.1;

/** An answer, with the passages that are shown as its sources. */
export interface Answered {
  readonly answer: Answer;
  readonly found: Found;
}

/**
 * Quotes the places that are most likely to answer the question. It never says anything that is not in a document. Of the passages that
 * were found, as many as are asked for stay as sources, and those that are quoted are among them.
 */
export function extractiveAnswer(
  found: Found,
  sourcesMax = found.ranked.length,
  judge?: readonly number[],
): Answered {
  const places = bestPlaces(found).filter(({ text }) => shownText(text) !== '');
  const [best] = places;
  const confidence = confidenceIn(places, found, judge);
  const isAbout = found.confidence >= 0.5 || (confidence >= unsureBelow && isCovered(places, found));
  const isAnswered = best !== undefined && isAbout && confidence >= confidenceMin;
  const quotes = isAnswered ? quotesOf(places, found.evidence) : [];
  const kept = withSources(found, new Set(quotes.map(({ passage }) => passage)), sourcesMax);
  if (!isAnswered)
    return { found: kept, answer: { text: nothingFound, citations: [], abstained: true, confidence } };
  const numbered = quotes.map((quote) => {
    const sourceIndex = kept.ranked.find(({ passage }) => passage === quote.passage)?.source.index ?? 1;
    return { ...quote, sourceIndex };
  });
  const introduction = confidence < unsureBelow ? `${closest} ` : '';
  return { found: kept, answer: { ...composed(numbered, introduction), abstained: false, confidence } };
}

/** The best place, and one more where it is nearly as likely to answer. */
function quotesOf([best, ...others]: readonly Place[], evidence: Evidence): QuotedSentence[] {
  if (!best) return [];
  const first = quoted(best, evidence);
  const second = others
    .filter(({ score }) => score >= best.score + Math.log(secondShare))
    .map((other) => quoted(other, evidence))
    .find(
      (other) =>
        (other.passage !== first.passage || other.end <= first.start || other.start >= first.end) &&
        other.text !== first.text &&
        first.text.length + other.text.length <= answerLengthMax,
    );
  return second ? [first, second] : [first];
}

/** The first passages with those that are quoted among them, renumbered. */
function withSources(found: Found, needed: ReadonlySet<Passage>, most: number): Found {
  let free = Math.max(0, most - needed.size);
  const ranked = found.ranked
    .filter(({ passage }) => needed.has(passage) || free-- > 0)
    .map(({ source, passage }, index) => ({ passage, source: { ...source, index: index + 1 } }));
  const documentCount = new Set(ranked.map(({ source }) => source.document_id)).size;
  return { ...found, ranked, documentCount };
}

/** The place around a sentence, which is enough to understand it. */
function quoted(sentence: QuotedSentence, evidence: Evidence): QuotedSentence {
  const { passage, unit } = sentence;
  const isEnough = unit.kind === 'sentence' && isComplete(requirementsOf(evidence), unit, evidence);
  const { start, end } = isEnough ? unit : quoteFor(unit, passage.text, evidence.question.text);
  const text = shortened(passage.text.slice(start, end));
  return { ...sentence, text, start: passage.start + start, end: passage.start + start + text.length };
}

/** The features of the place that would be quoted first, and its text; undefined if there is none. */
export function judgeInput(found: Found): { features: Float32Array; quote: string } | undefined {
  const places = bestPlaces(found);
  const [best] = places;
  return best && { features: featuresOf(places, found), quote: quoted(best, found.evidence).text };
}

function featuresOf(places: readonly Place[], { ranked, confidence, evidence }: Found): Float32Array {
  const place = places[0] as Place;
  const next = places.find(({ passage }) => passage !== place.passage)?.score;
  const passages = ranked.map(({ passage }) => passage);
  const { text: quote } = quoted(place, evidence);
  const required = requirementsOf(evidence);
  return judgeFeatures({ place, quote, next, required, confidence, passages }, evidence);
}

/** A place that has all that the question says is about it, whatever the words of its passage tell by themselves. */
function isCovered(places: readonly Place[], found: Found): boolean {
  return (featuresOf(places, found)[judgeFeatureNames.indexOf('uncovered')] ?? 1) <= uncoveredMax;
}

/** Likelihood that the first place answers the question. What lacks something that was asked for by name or by kind is as good as none. */
function confidenceIn(
  places: readonly Place[],
  found: Found,
  weights: readonly number[] = model.judge,
): number {
  if (places.length === 0) return 0;
  const features = featuresOf(places, found);
  const sum = features.reduce((total, value, index) => total + value * (weights[index] ?? 0), 0);
  const likelihood = 1 / (1 + Math.exp(-sum - (weights[features.length] ?? 0)));
  const isDecided = judgeFeatureNames.some(
    (name, index) => name in decisive && (features[index] ?? 0) >= decisive[name as keyof typeof decisive],
  );
  return isDecided ? likelihood * decidedShare : likelihood;
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
