/** Answers from passages, and the wording of everything that the chat says. */
export {
  type Answer,
  type AnswerKind,
  type ApiCitation,
  answerKinds,
  type Citation,
  type DocumentCitation,
} from './answers/answer.ts';
export { fieldsOf } from './answers/columns.ts';
export {
  type Answered,
  answerOf,
  extractiveAnswer,
  type Quote,
  withBestPlaces,
} from './answers/extractive.ts';
export { personName } from './answers/question/things.ts';
export { changesTopic, type Intent, intentOf, type Origin, withoutCourtesy } from './everyday/intent.ts';
export type { Found, Ranked } from './passages/found.ts';
export type { Passage } from './passages/passage.ts';
export { Source, sourceOfPassage } from './passages/source.ts';
export { meantQuestions } from './questions/follow-up.ts';
export type { ChatMessage } from './questions/message.ts';
export { shorterQuestions } from './questions/shorter.ts';
export { rephrased } from './questions/spelling.ts';
export { type Language, languageOf, languages, preferredLanguage } from './wording/language.ts';
export { texts } from './wording/texts.ts';
