export { type ApiAccess, createAccess, errorSchema, possibleReaderOf, readerOf } from './access.ts';
export type { Reader } from './store.ts';
export { Tokens } from './tokens.ts';
export { signInPage } from './views.ts';
