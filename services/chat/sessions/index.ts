export { detailsOf, type Message, type Session, titleMax, titleOf } from './session.ts';
export {
  countRatings,
  createSession,
  deleteExpired,
  deleteSession,
  deleteSessionsOf,
  findSession,
  insertMessages,
  insertSession,
  lastSaid,
  listSessions,
  messagesOf,
  rateAnswer,
  ratingsOf,
  renameSession,
} from './store.ts';
