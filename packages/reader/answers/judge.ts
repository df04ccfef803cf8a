import { stemsOf } from '@octavo/data/terms';
import type { Passage } from '../passages/passage.ts';
import type { QueryTermWeights as Evidence } from '../questions/query-term-weights.ts';
import { uncoveredBy } from './coverage.ts';
import { logit } from './logit.ts';
import type { Place } from './places.ts';
import { isMonthOf } from './question/dates.ts';
import { hasName, namesIn } from './requirements.ts';

/** Features that tell if the place to be quoted answers the question, each from about 0 to 1; and if each speaks for it or against it. */
export const judgeFeatureSigns = {
  confidence: 1,
  exact: -1,
  kind: -1,
  nameNowhere: -1,
  uncovered: -1,
  lead: 1,
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
  /** Stems of the names in the question. */
  readonly names: readonly string[];
  /** Confidence of the retrieval that its passages are about the question. */
  readonly confidence: number;
  /** The passages that were found. */
  readonly passages: readonly Passage[];
}

/** Returns the features of a quote, in the order of {@link judgeFeatureNames}. */
export function judgeFeatures(
  { place, quote, next, names, confidence, passages }: Judged,
  evidence: Evidence,
): Float32Array {
  const { unit, passage, misses, score } = place;
  const ofDocument = passages.filter(({ document }) => document === passage.document);
  const document = new Set([...unit.context, ...namesIn(ofDocument.map(({ text }) => text).join('\n'))]);
  const nowhere = names.filter(
    (stem) => !hasName(document, stem) && !isSpelledOut(passage.text, stem) && !isMonthOf(stem, quote),
  );
  const passageStems = new Set(stemsOf(passage.text));
  return Float32Array.of(
    logit(confidence) / 5,
    misses.exact > 0 ? 1 : 0,
    misses.kind,
    names.length > 0 && nowhere.length * 2 >= names.length ? 1 : 0,
    uncoveredBy({ quote, context: unit.context, passage, passageStems }, evidence),
    Math.min(1, Math.max(0, (score - (next ?? 0)) / 10)),
  );
}

const acronymMax = 4;

/** Returns true if words with the letters of a short name as their initials follow each other. */
function isSpelledOut(text: string, name: string): boolean {
  if (name.length > acronymMax || !/^[a-z]+$/.test(name)) return false;
  const words = [...name.toUpperCase()].map((letter) => `${letter}\\w+`);
  return new RegExp(`\\b${words.join('\\s+(?:(?:of|and|the|for)\\s+)*')}`).test(text);
}
