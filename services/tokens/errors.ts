import { AppError } from '@octavo/core';
import { weakPassword } from '@octavo/core/passwords';

/** The errors of this service. Where a reason is given, it is the code that clients see. */
export const errors = {
  invalidEmail: () =>
    new AppError('invalid_input', 'This is not a valid e-mail address.', { reason: 'INVALID_EMAIL' }),
  weakPassword,
  invalidCredentials: () =>
    new AppError('unauthenticated', 'The e-mail address or the password is wrong.', {
      reason: 'INVALID_CREDENTIALS',
    }),
  wrongPassword: () =>
    new AppError('unauthenticated', 'The password is wrong.', { reason: 'INVALID_CREDENTIALS' }),
  missingToken: () =>
    new AppError('unauthenticated', 'An Authorization header of the form "Bearer TOKEN" is required.', {
      reason: 'MISSING_TOKEN',
    }),
  invalidToken: () => new AppError('unauthenticated', 'The token is not valid.', { reason: 'INVALID_TOKEN' }),
  tokenExpired: () => new AppError('unauthenticated', 'The token has expired.', { reason: 'TOKEN_EXPIRED' }),
  userNotFound: () => new AppError('not_found', 'This user does not exist.', { reason: 'USER_NOT_FOUND' }),
  sessionNotFound: () => new AppError('not_found', 'This session does not exist.'),
  duplicateEmail: () =>
    new AppError('conflict', 'This e-mail address is already registered.', { reason: 'DUPLICATE_EMAIL' }),
  locked: (retryAfterSeconds: number) =>
    new AppError('precondition_failed', 'Too many wrong passwords. Try again later.', {
      reason: 'ACCOUNT_LOCKED',
      retryAfterSeconds,
    }),
  rateLimited: (retryAfterSeconds: number) =>
    new AppError('rate_limited', 'Too many requests. Try again later.', { retryAfterSeconds }),
  tooManyUsers: () =>
    new AppError('unavailable', 'No more users can be registered. Try again later.', {
      retryAfterSeconds: 3_600,
    }),
  emailNotVerified: () =>
    new AppError('forbidden', 'Verify your e-mail address first, by the link that was mailed to it.', {
      reason: 'EMAIL_NOT_VERIFIED',
    }),
  noMail: () => new AppError('unavailable', 'This server sends no e-mail.', { retryAfterSeconds: 3_600 }),
  missingSecret: () =>
    new AppError('internal', 'The server has no key for signing tokens.', { reason: 'MISSING_SECRET' }),
} as const;
