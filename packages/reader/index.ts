/** The door of the reader: a question, the messages before it and a search give a reading. */
export {
  type Answer,
  type AnswerKind,
  type ApiCitation,
  answerKinds,
  type Citation,
  type DocumentCitation,
} from './answers/answer.ts';
export { extractiveAnswer, withBestPlaces } from './answers/extractive.ts';
export type { Documents, ListedDocument } from './everyday/documents.ts';
export { wholeDocuments } from './everyday/whole.ts';
export type { Found, Ranked } from './passages/found.ts';
export type { Passage } from './passages/passage.ts';
export { Source, sourceOfPassage } from './passages/source.ts';
export type { ChatMessage } from './questions/message.ts';
export { read } from './read.ts';
export type { PassageReading, Reading, ReplyReading, Search } from './reading.ts';
export { type Language, languageFor, languageOf, languages, preferredLanguage } from './wording/language.ts';
export { texts } from './wording/texts.ts';
