export { claimAccount } from './account-claim.ts';
export { clearFailures, countFailure, failuresKeptMs, secondsBlocked } from './attempts.ts';
export {
  type EnrollmentTarget,
  type EnrollmentWithoutProof,
  enrollmentTarget,
  lockAddress,
  proveFirstFactor,
} from './enrollment.ts';
export {
  canSignIn,
  deleteIdleUsers,
  deleteOldFailures,
  deleteUser,
  factorsOf,
  findUser,
  touchAndUnblockUser,
  touchUser,
  usersOf,
} from './store.ts';
export type { User } from './user.ts';
