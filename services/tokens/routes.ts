/** The URL space of the API. */
export const routes = {
  register: '/auth/register',
  login: '/auth/login',
  refresh: '/auth/refresh',
  logout: '/auth/logout',
  logoutAll: '/auth/logout-all',
  changePassword: '/auth/change-password',
  me: '/auth/me',
  email: '/auth/email',
  account: '/auth/account',
  accountDeletion: '/auth/account/deletion',
  sessions: '/auth/sessions',
  session: '/auth/sessions/:id',
  changePasswordHint: '/.well-known/change-password',
} as const;

/** The URL space of the page. Forms that fail are shown at the address that they were sent to. */
export const pageRoutes = {
  home: '/',
  register: '/register',
  signIn: '/sign-in',
  signOut: '/sign-out',
  refresh: '/refresh',
  endSession: '/sessions/end',
  endAllSessions: '/sessions/end-all',
  changePassword: '/password',
  checkPassword: '/password/check',
  changeEmail: '/email',
  deleteAccount: '/delete',
} as const;
