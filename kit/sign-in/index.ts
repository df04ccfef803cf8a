export { Checks } from './checks.ts';
export { type AccountHost, Identities, type NewPerson, type PeopleStore } from './identities.ts';
export { OidcSignIn, oidcRoutes, type SignInRealm } from './pages.ts';
export { Provider } from './provider.ts';
export {
  checkOidc,
  type OidcConfig,
  oidcSettings,
  type ProviderSettings,
  passwordsOff,
  providerOf,
} from './settings.ts';
export { forgetPeople, type OidcTables, oidcMigrations } from './store.ts';
export type { TokenHolder } from './tokens.ts';
