export { type Message, type Session, titleMax, titleOf } from './session.ts';
export {
  createSession,
  deleteExpired,
  deleteSession,
  findSession,
  insertMessages,
  insertSession,
  lastSaid,
  listSessions,
  messagesOf,
  renameSession,
} from './store.ts';
