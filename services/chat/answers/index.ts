export type { Answer, ApiCitation, Citation, DocumentCitation } from './answer.ts';
export { bestSentences, extractiveAnswer, nothingFound } from './extractive.ts';
