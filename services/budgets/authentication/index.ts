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
export { createDemoAccount, demoFile, demoSignIns } from './demo.ts';
export { LinkTokens } from './links.ts';
export { LinkMails } from './mails.ts';
export { OnceKeys, sweepOnceKeys } from './once.ts';
export { SessionWatch } from './session-watch.ts';
export {
  authenticate,
  authenticateHeader,
  authenticateSession,
  browserSeconds,
  createTokens,
  endSession,
  type SignedIn,
  tokenSeconds,
} from './tokens.ts';
export { errors as accountErrors, Profile, User } from './user.ts';
