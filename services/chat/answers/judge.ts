import { stemsOf } from '#kit/search/terms.ts';
import type { Evidence, Passage } from '../retrieval/index.ts';
import { hasName, type Misses } from './requirements.ts';
import type { CandidateSentence } from './sentence-features.ts';

/** Features that tell if the place to be quoted answers the question, each from about 0 to 1. */
export const judgeFeatureNames = [
  'confidence',
  'context',
  'passage',
  'unknown',
  'names',
  'exact',
  'kind',
  'nameNowhere',
  'muchUnknown',
  'rarest',
  'score',
] as const;

/** The best place for a question, as the judge sees it. */
export interface Judged {
  readonly unit: CandidateSentence;
  readonly passage: Passage;
  readonly misses: Misses;
  readonly names: readonly string[];
  /** Score of the place beside others. */
  readonly score: number;
  /** Confidence of the retrieval that its passages are about the question. */
  readonly confidence: number;
}

export function judgeFeatures(judged: Judged, evidence: Evidence): Float32Array {
  const { unit, passage, misses, names, confidence, score } = judged;
  const unknown = evidence.share((stem) => !evidence.isKnown(stem));
  const around = new Set([...unit.context, ...stemsOf(passage.text)]);
  const [rarest] = evidence.question.terms.toSorted(
    (one, other) => evidence.rarityOf(other.stem) - evidence.rarityOf(one.stem),
  );
  return Float32Array.of(
    logit(confidence) / 5,
    evidence.share((stem) => unit.context.has(stem)),
    evidence.share((stem) => around.has(stem)),
    unknown,
    misses.names,
    misses.exact > 0 ? 1 : 0,
    misses.kind,
    names.length > 0 &&
      names.filter((stem) => !hasName(around, stem) && !isSpelledOut(passage.text, stem)).length * 2 >=
        names.length
      ? 1
      : 0,
    unknown > muchUnknown ? 1 : 0,
    rarest && !around.has(rarest.stem) ? 1 : 0,
    score / 10,
  );
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
