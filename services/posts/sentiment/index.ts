export { type Classifier, checkText } from './classifier.ts';
export { startEnrichment } from './enrichment.ts';
export { checkInference, inferenceSettings, openClassifier } from './inference/open-classifier.ts';
export { classifyPosts, inParts, storeSentiments, toWireClassification, wireLabels } from './sentiments.ts';
export { findSentiment, labelsOf } from './store.ts';
