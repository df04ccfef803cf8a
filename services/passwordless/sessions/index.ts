export { AccessTokens } from './access-tokens.ts';
export { type Caller, checkFresh, isFresh, orUndefined } from './caller.ts';
export type { Method, Session, TokenPair } from './session.ts';
export { Sessions } from './sessions.ts';
export { deleteExpiredSessions, findSession } from './store.ts';
