export { type Classifier, checkText } from './classifier.ts';
export { startEnrichment } from './enrichment.ts';
export { checkInference, inferenceSettings, openClassifier } from './open-classifier.ts';
export { classifyPosts, inParts, storeSentiments, toWireClassification } from './sentiments.ts';
export { findSentiment } from './store.ts';
