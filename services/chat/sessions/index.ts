export { type Message, type Session, titleMax, titleOf } from './session.ts';
export {
  addMessages,
  createSession,
  deleteExpired,
  deleteSession,
  findSession,
  lastSaid,
  listSessions,
  messagesOf,
  renameSession,
} from './store.ts';
