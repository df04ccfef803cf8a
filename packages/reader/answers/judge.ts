import { stemsOf } from '@octavo/data/terms';
import type { Passage } from '../passages/passage.ts';
import type { QueryTermWeights as Evidence } from '../questions/query-term-weights.ts';
import { uncoveredBy } from './coverage.ts';
import type { Place } from './places.ts';
import { shareOfOthers } from './question/counted.ts';
import { isMonthOf } from './question/dates.ts';
import { asksForKind, countsSome, lacksCounted } from './question/kinds.ts';
import { hasName, namesIn, type Requirements, topicsOf } from './requirements.ts';

/** Features that tell if the place to be quoted answers the question, each from about 0 to 1; and if each speaks for it or against it. */
export const judgeFeatureSigns = {
  confidence: 1,
  sentence: 1,
  context: 1,
  passage: 1,
  unknown: -1,
  names: -1,
  exact: -1,
  kind: -1,
  nameNowhere: -1,
  muchUnknown: -1,
  rarest: -1,
  property: -1,
  column: -1,
  otherCounted: -1,
  topic: -1,
  uncovered: -1,
  worstUncovered: -1,
  notCounted: -1,
  subject: -1,
  deed: -1,
  asksForKind: 0,
  counted: 1,
  defines: 1,
  term: 1,
  heading: 1,
  lead: 1,
  score: 1,
  untold: -1,
} as const;
/** Names of the features of the judge, in the order of its weights. */
export const judgeFeatureNames = Object.keys(judgeFeatureSigns) as (keyof typeof judgeFeatureSigns)[];

/** The best place for a question, as the judge sees it. */
export interface Judged {
  readonly place: Place;
  /** The part of it that is quoted. */
  readonly quote: string;
  /** Score of the best place of another passage; undefined if there is none. */
  readonly next: number | undefined;
  readonly required: Requirements;
  /** Confidence of the retrieval that its passages are about the question. */
  readonly confidence: number;
  /** The passages that were found. */
  readonly passages: readonly Passage[];
}

/** Returns the features of a quote, in the order of {@link judgeFeatureNames}. */
export function judgeFeatures(judged: Judged, evidence: Evidence): Float32Array {
  const { place, quote, next, required, confidence, passages } = judged;
  const { unit, passage, misses, signs, score } = place;
  const passageStems = new Set(stemsOf(passage.text));
  const around = unit.context.union(passageStems);
  const ofDocument = passages.filter(({ document }) => document === passage.document);
  const document = new Set([...unit.context, ...namesIn(ofDocument.map(({ text }) => text).join('\n'))]);
  const [rarest] = evidence.question.terms.toSorted(
    (one, other) => evidence.rarityOf(other.stem) - evidence.rarityOf(one.stem),
  );
  const { names } = required;
  const nowhere = names.filter(
    (stem) => !hasName(document, stem) && !isSpelledOut(passage.text, stem) && !isMonthOf(stem, quote),
  );
  const topics = topicsOf(passages, evidence);
  const uncovered = uncoveredBy({ quote, context: unit.context, passage, passageStems }, evidence);
  return Float32Array.of(
    logit(confidence) / 5,
    evidence.share((stem) => unit.stems.has(stem)),
    evidence.share((stem) => unit.context.has(stem)),
    evidence.share((stem) => around.has(stem)),
    uncovered.unknown,
    misses.names,
    misses.exact > 0 ? 1 : 0,
    misses.kind,
    names.length > 0 && nowhere.length * 2 >= names.length ? 1 : 0,
    uncovered.unknown > muchUnknown ? 1 : 0,
    rarest && !around.has(rarest.stem) ? 1 : 0,
    misses.property,
    unit.kind === 'row' ? misses.property : 0,
    required.kind.counted === undefined ? 0 : shareOfOthers(required.kind.counted, quote),
    topics.length > 0 && topics.every((stem) => !hasName(around, stem)) ? 1 : 0,
    uncovered.share,
    uncovered.worst,
    lacksCounted(required.kind, new Set([...unit.context, ...stemsOf(quote)])) ? 1 : 0,
    uncovered.subject,
    uncovered.deed,
    asksForKind(required.kind) ? 1 : 0,
    signs.counted,
    misses.defines,
    signs.term,
    signs.heading,
    Math.min(1, Math.max(0, (score - (next ?? 0)) / 10)),
    score / 10,
    lacksCount(judged, evidence) ? 1 : 0,
  );
}

/** Returns true if a place does not say how many there are of what a question counts. Rows name what they count in their columns. */
function lacksCount({ place, quote, required: { kind } }: Judged, evidence: Evidence): boolean {
  if (place.unit.kind === 'row' || countsSome(kind, quote)) return false;
  // "A population of 4,000" counts people.
  return !/\d/.test(quote) || !evidence.hasSynonym(kind.counted ?? '', new Set(stemsOf(quote)));
}

const muchUnknown = 0.4;
const acronymMax = 4;

/** Returns true if words with the letters of a short name as their initials follow each other. */
function isSpelledOut(text: string, name: string): boolean {
  if (name.length > acronymMax || !/^[a-z]+$/.test(name)) return false;
  const words = [...name.toUpperCase()].map((letter) => `${letter}\\w+`);
  return new RegExp(`\\b${words.join('\\s+(?:(?:of|and|the|for)\\s+)*')}`).test(text);
}

function logit(share: number): number {
  const within = Math.min(0.999, Math.max(0.001, share));
  return Math.log(within / (1 - within));
}
