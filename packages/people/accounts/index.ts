export { accountPasswords, accountRoutes, addOwnAccountPages } from './account-pages.ts';
export {
  Accounts,
  type AccountsOptions,
  accountMigrations,
  accountSettings,
  type Credentials,
  openAccounts,
} from './accounts.ts';
export { Lockout } from './lockout.ts';
export {
  allPermissions,
  noPermissions,
  type PermissionAction,
  type Permissions,
  permissionActions,
} from './permissions.ts';
export { keptSecret } from './secrets.ts';
export { sessionLimits } from './sessions.ts';
export { setupAddress, setupPath } from './setup-link.ts';
export { type AccountTables, administratorsLock } from './store.ts';
export { checkNames, type NewUser, type User, usernameKey, usernameProblem } from './user.ts';
