import { AppError } from '@octavo/core';

/** The errors of the service. The reason is the code in the response. */
export const authErrors = {
  invalidEmail: () =>
    new AppError('invalid_input', 'This is not a valid e-mail address.', { reason: 'INVALID_EMAIL' }),
  missingToken: () =>
    new AppError('unauthenticated', 'An Authorization header of the form "Bearer TOKEN" is required.', {
      reason: 'MISSING_TOKEN',
    }),
  invalidToken: () => new AppError('unauthenticated', 'The token is not valid.', { reason: 'INVALID_TOKEN' }),
  tokenExpired: () => new AppError('unauthenticated', 'The token has expired.', { reason: 'TOKEN_EXPIRED' }),
  invalidCode: () => new AppError('unauthenticated', 'The code is not valid.', { reason: 'INVALID_CODE' }),
  reauthRequired: () =>
    new AppError('unauthenticated', 'Sign in again to change how you sign in.', {
      reason: 'REAUTH_REQUIRED',
    }),
  emailMismatch: () =>
    new AppError('forbidden', 'The token is for another e-mail address.', { reason: 'EMAIL_MISMATCH' }),
  sessionNotFound: () => new AppError('not_found', 'This session does not exist.'),
  totpNotFound: () => new AppError('not_found', 'There is no authenticator app to remove.'),
  lastFactor: () =>
    new AppError('conflict', 'This is the last way to sign in; add another first.', {
      reason: 'LAST_FACTOR',
    }),
  rateLimited: (retryAfterSeconds: number) =>
    new AppError('rate_limited', 'Too many requests. Try again later.', { retryAfterSeconds }),
} as const;
