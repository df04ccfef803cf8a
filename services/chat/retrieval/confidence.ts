import type { Evidence } from './evidence.ts';
import type { ReadPassage } from './features.ts';

/** What tells whether the passages that were found answer the question, each from 0 to 1. */
export const confidenceFeatureNames = [
  'coverage',
  'coverageOfThree',
  'sentence',
  'names',
  'known',
  'pairs',
  'cosine',
] as const;

/** Of the passages in their order, best first. */
export function confidenceFeatures(
  ranked: readonly {
    readonly read: ReadPassage;
    readonly pairs: number;
    readonly sentence: number;
    readonly cosine: number;
  }[],
  evidence: Evidence,
): Float32Array {
  const [best] = ranked;
  if (!best) return new Float32Array(confidenceFeatureNames.length);
  const has =
    ({ read }: (typeof ranked)[number]) =>
    (stem: string) =>
      read.stems.has(stem) || read.headingStems.has(stem) || read.titleStems.has(stem);
  const three = ranked.slice(0, 3).map(has);
  return Float32Array.of(
    evidence.share(has(best)),
    evidence.share((stem) => three.some((each) => each(stem))),
    Math.max(...ranked.slice(0, 3).map(({ sentence }) => sentence)),
    evidence.nameShare(has(best)),
    evidence.share((stem) => evidence.isKnown(stem)),
    best.pairs,
    best.cosine,
  );
}
