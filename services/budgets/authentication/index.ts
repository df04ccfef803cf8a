export {
  type Accounts,
  accountAddress,
  accountName,
  deleteProfile,
  getProfile,
  login,
  register,
  requestLink,
  resetOrRequest,
  resetPassword,
  updateProfile,
  verifyEmail,
  verifyOrRequest,
} from './accounts.ts';
export { AnonymousIdempotency, sweepOnceKeys } from './anonymous-idempotency.ts';
export { createDemoAccount, demoFile, demoPeople, demoSignIns, getsDemoData } from './demo.ts';
export { completeErasures } from './erasure.ts';
export { LinkTokens } from './links.ts';
export { linkMails } from './mails.ts';
export { createLockout } from './own-password.ts';
export { SessionWatch } from './session-watch.ts';
export {
  authenticate,
  authenticateHeader,
  authenticateSession,
  type BrowserSession,
  browserSeconds,
  createTokens,
  endSession,
  type SignedIn,
  type Tokens,
  tokenOfBrowser,
  tokenSeconds,
} from './tokens.ts';
export { accountLimits, addressOf, Profile, User } from './user.ts';
