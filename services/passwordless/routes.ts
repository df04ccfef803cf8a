/** The paths of the API. */
export const routes = {
  requestMagic: '/request/magic',
  verifyMagic: '/verify/magic',
  totpEnroll: '/totp/enroll',
  totpVerify: '/totp/verify',
  totp: '/totp',
  refresh: '/token/refresh',
  revoke: '/token/revoke',
  me: '/me',
  logoutAll: '/logout-all',
  sessions: '/sessions',
  session: '/sessions/:id',
  recoveryCodes: '/recovery-codes',
  recoveryVerify: '/recovery/verify',
  passkeyRegisterOptions: '/webauthn/register/options',
  passkeyRegisterComplete: '/webauthn/register/complete',
  passkeyLoginOptions: '/webauthn/login/options',
  passkeyLoginComplete: '/webauthn/login/complete',
  passkeys: '/webauthn/credentials',
  passkey: '/webauthn/credentials/:id',
  relatedOrigins: '/.well-known/webauthn',
  passkeyEndpoints: '/.well-known/passkey-endpoints',
} as const;

/** The paths of the pages. A form with errors is shown at the path it was sent to. */
export const pageRoutes = {
  home: '/',
  setup: '/setup/:ticket',
  demoSignIn: '/demo-sign-in/:ticket',
  signIn: '/sign-in',
  signInByCode: '/sign-in/code',
  signInByLink: '/sign-in/link',
  signInByPasskey: '/sign-in/passkey',
  signInByPasskeyOptions: '/sign-in/passkey/options',
  signInByApp: '/sign-in/authenticator',
  signInByRecoveryCode: '/sign-in/recovery',
  signOut: '/sign-out',
  verifyEmail: '/account/verify',
  addPasskey: '/account/passkeys',
  addPasskeyOptions: '/account/passkeys/options',
  editPasskey: '/account/passkeys/edit',
  removePasskey: '/account/passkeys/remove',
  setUpApp: '/account/authenticator',
  confirmApp: '/account/authenticator/confirm',
  removeApp: '/account/authenticator/remove',
  recoveryCodes: '/account/recovery-codes',
  endSession: '/account/sessions/end',
  endAllSessions: '/account/sessions/end-all',
  deleteAccount: '/account/delete',
} as const;

/** The paths of the OpenID provider. */
export const oidcRoutes = {
  discovery: ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'],
  interaction: '/oidc/interaction/:uid',
  consent: '/oidc/interaction/:uid/consent',
  cancel: '/oidc/interaction/:uid/cancel',
  /** Names and paths as the library's configuration has them. */
  library: {
    authorization: '/oidc/auth',
    token: '/oidc/token',
    jwks: '/oidc/jwks',
    userinfo: '/oidc/me',
    end_session: '/oidc/session/end',
    revocation: '/oidc/token/revocation',
  },
} as const;
