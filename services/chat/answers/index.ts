export type { Answer, ApiCitation, Citation, DocumentCitation } from './answer.ts';
export {
  type Answered,
  answerOf,
  bestSentences,
  extractiveAnswer,
  judgeInput,
  nothingFound,
  type Quote,
} from './extractive.ts';
