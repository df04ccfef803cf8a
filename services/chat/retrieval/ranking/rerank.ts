import type { QueryTermWeights } from '@octavo/reader/questions';
import models from '../reranker.json' with { type: 'json' };
import { confidenceFeatures } from './confidence.ts';
import type { Candidate } from './fusion.ts';
import { featureNames, featuresFor, type LazyPassage, type ReadPassage } from './reranker-features.ts';

/** A linear model over features of question and passage, which `training/retrieval/` makes. */
export const rerankerModel = 'builtin-pair-features';

/** The weights of a linear model; the bias comes last. */
export type Weights = readonly number[];

/** A candidate with how well it answers the question, 0 to 1. */
export interface Reranked {
  readonly candidate: Candidate;
  readonly read: ReadPassage;
  readonly features: Float32Array;
  readonly score: number;
}

/** Judges candidates by reading them together with the question; their order stays. */
export function rerank(
  found: readonly (readonly [Candidate, LazyPassage])[],
  evidence: QueryTermWeights,
  weights: Weights = models.reranker,
): Reranked[] {
  const candidates = found.map(([candidate, { read }]) => [candidate, read] as const);
  const features = featuresFor(candidates, evidence);
  return candidates.map(([candidate, read], index) => {
    const own = features[index] as Float32Array;
    return { candidate, read, features: own, score: logistic(weights, own) };
  });
}

/** Returns the features that tell if the passages answer the question, of the reranked ones, best first. */
export function confidenceInput(judged: readonly Reranked[], evidence: QueryTermWeights): Float32Array {
  const first = judged.slice(0, 3).map(({ candidate: { cosine }, read, features, score }) => {
    const of = (name: (typeof featureNames)[number]) => features[featureNames.indexOf(name)] ?? 0;
    return {
      read,
      cosine,
      score,
      sentence: of('sentence'),
      wholeWords: of('wholeWords'),
      pairs: of('pairs'),
    };
  });
  return confidenceFeatures(first, evidence);
}

/** Returns the confidence that the passages answer the question, 0 to 1; below a half there is no answer. */
export function confidenceOf(
  judged: readonly Reranked[],
  evidence: QueryTermWeights,
  weights: Weights = models.confidence,
): number {
  return judged.length === 0 ? 0 : logistic(weights, confidenceInput(judged, evidence));
}

export function logistic(weights: Weights, features: Float32Array): number {
  let sum = weights[features.length] ?? 0;
  for (let index = 0; index < features.length; index++) sum += (weights[index] ?? 0) * (features[index] ?? 0);
  return 1 / (1 + Math.exp(-sum));
}
