/** The URLs of the API. */
export const routes = {
  register: '/auth/register',
  login: '/auth/login',
  refresh: '/auth/refresh',
  logout: '/auth/logout',
  logoutAll: '/auth/logout-all',
  changePassword: '/auth/change-password',
  forgotPassword: '/auth/forgot-password',
  resetPassword: '/auth/reset-password',
  verifyEmail: '/auth/verify-email',
  sendVerification: '/auth/send-verification',
  me: '/auth/me',
  email: '/auth/email',
  account: '/auth/account',
  accountDeletion: '/auth/account/deletion',
  sessions: '/auth/sessions',
  session: '/auth/sessions/:id',
  changePasswordHint: '/.well-known/change-password',
} as const;

/** The URLs of the pages. A form that fails is shown again at the address it was sent to. */
export const pageRoutes = {
  home: '/',
  register: '/register',
  signIn: '/sign-in',
  signOut: '/sign-out',
  refresh: '/refresh',
  endSession: '/sessions/end',
  endAllSessions: '/sessions/end-all',
  changePassword: '/password',
  forgotPassword: '/forgot-password',
  resetPassword: '/reset-password',
  verifyEmail: '/verify-email',
  sendVerification: '/email/verification',
  checkPassword: '/password/check',
  changeEmail: '/email',
  deleteAccount: '/delete',
} as const;
