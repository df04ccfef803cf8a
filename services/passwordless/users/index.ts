export { claimAccount, createOwner } from './account-claim.ts';
export { clearFailures, countFailure, deleteOldFailures, secondsBlocked } from './attempts.ts';
export { lockAddress, proveFirstFactor, UnprovenEnrollment } from './enrollment.ts';
export {
  canSignIn,
  deleteIdleUsers,
  deleteUser,
  factorsOf,
  findUser,
  touchUser,
  usersOf,
} from './store.ts';
export { listUsers } from './store-admin.ts';
export {
  addRole,
  grantRole,
  listRoles,
  type Role,
  removeRole,
  revokeRole,
  rolesFor,
  serviceIdOf,
} from './store-roles.ts';
export type { User } from './user.ts';
