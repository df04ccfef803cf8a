export {
  Accounts,
  type AccountsOptions,
  accountMigrations,
  accountSettings,
  type Credentials,
  openAccounts,
  setupAddress,
  setupPath,
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
export type { AccountTables } from './store.ts';
export { checkNames, type NewUser, type User, usernameKey, usernameProblem } from './user.ts';
