import type { QueryTermWeights } from '@octavo/reader/questions';
import type { ReadPassage } from './reranker-features.ts';

/** Features that tell if the passages answer the question, each from 0 to 1. */
export const confidenceFeatureNames = [
  'sentence',
  'wholeWords',
  'names',
  'known',
  'pairs',
  'cosine',
  'score',
] as const;

/** A passage as the reranker sees it. */
export interface ConfidencePassage {
  readonly read: ReadPassage;
  readonly sentence: number;
  readonly wholeWords: number;
  readonly pairs: number;
  readonly cosine: number;
  readonly score: number;
}

/** Of the first passages in their order, best first. */
export function confidenceFeatures(
  first: readonly ConfidencePassage[],
  evidence: QueryTermWeights,
): Float32Array {
  const [best] = first;
  if (!best) return new Float32Array(confidenceFeatureNames.length);
  const { stems, headingStems, titleStems } = best.read;
  return Float32Array.of(
    Math.max(...first.map(({ sentence }) => sentence)),
    best.wholeWords,
    evidence.nameShare((stem) => stems.has(stem) || headingStems.has(stem) || titleStems.has(stem)),
    evidence.share((stem) => evidence.isKnown(stem)),
    best.pairs,
    best.cosine,
    best.score,
  );
}
