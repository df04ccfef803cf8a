export { Checks } from './checks.ts';
export {
  type AccountHost,
  endOtherRoles,
  Identities,
  type NewPerson,
  type PeopleStore,
} from './identities.ts';
export { addLeavingPage, type Leaver, type LeavingOptions } from './own-account/leaving.ts';
export { OidcSignIn, oidcRoutes } from './pages.ts';
export { type Person, Provider } from './provider.ts';
export type { AccountPasswords, SignInRealm } from './realm.ts';
export {
  checkOidc,
  type OidcConfig,
  oidcSettings,
  type ProviderSettings,
  passwordsOff,
  providerOf,
} from './settings.ts';
export { endSessionsOf, forgetPeople, type OidcTables, oidcMigrations } from './store.ts';
export type { TokenHolder } from './tokens.ts';
