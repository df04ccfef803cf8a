/** Features of the learned models, for what trains and measures them. */
export { judgeInput } from './answers/extractive.ts';
export { judgeFeatureNames, judgeFeatureSigns } from './answers/judge.ts';
export { bestSentences } from './answers/places.ts';
export { sentenceCandidates, sentenceFeatureNames } from './answers/sentence-features.ts';
