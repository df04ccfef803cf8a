export {
  type Answer,
  type AnswerKind,
  type ApiCitation,
  answerKinds,
  type Citation,
  type DocumentCitation,
} from './answer.ts';
export { fieldsOf } from './columns.ts';
export {
  type Answered,
  answerOf,
  extractiveAnswer,
  judgeInput,
  type Quote,
  withBestPlaces,
} from './extractive.ts';
export { bestSentences } from './places.ts';
export { personName } from './question/things.ts';
