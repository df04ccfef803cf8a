import { confidenceFeatures } from './confidence.ts';
import type { Evidence } from './evidence.ts';
import { featureNames, featuresFor, type LazyPassage, type ReadPassage } from './features.ts';
import type { Candidate } from './fusion.ts';
import models from './reranker.json' with { type: 'json' };

/** A linear model over features of question and passage, which `training/retrieval/` makes. */
export const rerankerModel = 'builtin-pair-features';

/** The weights of a linear model; the bias comes last. */
export type Weights = readonly number[];

/** A candidate with how well it answers the question, 0 to 1. */
export interface Judged {
  readonly candidate: Candidate;
  readonly read: ReadPassage;
  readonly features: Float32Array;
  readonly score: number;
}

/** Judges candidates by reading them together with the question; their order stays. */
export function judge(
  found: readonly (readonly [Candidate, LazyPassage])[],
  evidence: Evidence,
  weights: Weights = models.reranker,
): Judged[] {
  const candidates = found.map(([candidate, { read }]) => [candidate, read] as const);
  const features = featuresFor(candidates, evidence);
  return candidates.map(([candidate, read], index) => {
    const own = features[index] as Float32Array;
    return { candidate, read, features: own, score: logistic(weights, own) };
  });
}

/** What tells whether the passages answer the question, of those that were judged, best first. */
export function confidenceInput(judged: readonly Judged[], evidence: Evidence): Float32Array {
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

/** How sure it is that the passages answer the question, 0 to 1; half is the border below which there is no answer. */
export function confidenceOf(
  judged: readonly Judged[],
  evidence: Evidence,
  weights: Weights = models.confidence,
): number {
  return judged.length === 0 ? 0 : logistic(weights, confidenceInput(judged, evidence));
}

export function logistic(weights: Weights, features: Float32Array): number {
  let sum = weights[features.length] ?? 0;
  for (let index = 0; index < features.length; index++) sum += (weights[index] ?? 0) * (features[index] ?? 0);
  return 1 / (1 + Math.exp(-sum));
}
