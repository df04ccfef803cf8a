/** For tests: signatures of mails. */
export { testKey, verifyDkim } from './testing-dkim.ts';
