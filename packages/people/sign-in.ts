/** The sign-in by an OpenID provider. */
export { Checks } from './sign-in/checks.ts';
export {
  type AccountHost,
  endOtherRoles,
  Identities,
  type NewPerson,
  type PeopleStore,
} from './sign-in/identities.ts';
export { addLeavingPage, type Leaver } from './sign-in/own-account/leaving.ts';
export { OidcSignIn } from './sign-in/pages.ts';
export { type Person, Provider } from './sign-in/provider.ts';
export type { AccountPasswords, SignInRealm } from './sign-in/realm.ts';
export {
  checkOidc,
  type OidcConfig,
  oidcSettings,
  type ProviderSettings,
  passwordsOff,
  providerOf,
} from './sign-in/settings.ts';
export { endSessionsOf, forgetPeople, type OidcTables, oidcMigrations } from './sign-in/store.ts';
