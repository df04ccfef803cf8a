/** Accounts with passwords, groups, permissions and sessions. */
export { accountPasswords, accountRoutes, addOwnAccountPages } from './accounts/account-pages.ts';
export { Accounts, accountMigrations, accountSettings, openAccounts } from './accounts/accounts.ts';
export { Lockout } from './accounts/lockout.ts';
export {
  allPermissions,
  noPermissions,
  type PermissionAction,
  type Permissions,
  permissionActions,
} from './accounts/permissions.ts';
export { keptSecret } from './accounts/secrets.ts';
export { openServiceAccounts } from './accounts/service-accounts.ts';
export { sessionLimits } from './accounts/sessions.ts';
export { setupAddress, setupPath } from './accounts/setup-link.ts';
export { type AccountTables, administratorsLock, insertUser } from './accounts/store.ts';
export { checkNames, type NewUser, type User, usernameKey } from './accounts/user.ts';
