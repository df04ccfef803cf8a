export type { Answer, ApiCitation, Citation, DocumentCitation } from './answer.ts';
export { fieldsOf } from './columns.ts';
export {
  type Answered,
  answerOf,
  extractiveAnswer,
  judgeInput,
  nothingFound,
  type Quote,
} from './extractive.ts';
export { bestSentences } from './places.ts';
export { personName } from './question/things.ts';
