/** Stand-ins for what signs people in: authenticators and an OpenID provider. */
export { appCode, fullWidth } from './authenticator.ts';
export { TestProvider, Walker } from './oidc-provider.ts';
