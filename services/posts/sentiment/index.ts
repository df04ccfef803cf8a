export { type Classifier, checkText } from './classifier.ts';
export { startEnrichment } from './enrichment.ts';
export { inferenceSettings, openClassifier } from './open-classifier.ts';
export { serveOpenInference } from './open-inference-api.ts';
export { classifyPosts, inParts, storeSentiments, toWireClassification } from './sentiments.ts';
export { findSentiment } from './store.ts';
