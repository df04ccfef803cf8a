import { AppError } from '@octavo/core';
import { passkeysMax } from './passkey.ts';

/** Errors of passkeys: one text each, whatever the exact cause, so that they tell a stranger nothing. */
export const passkeyErrors = {
  invalidCeremony: () =>
    new AppError('invalid_input', 'This attempt is unknown, was used, or has expired. Start again.', {
      reason: 'INVALID_CEREMONY',
    }),
  badRegistration: () =>
    new AppError('invalid_input', 'The passkey could not be verified.', { reason: 'VERIFICATION_FAILED' }),
  badAssertion: () =>
    new AppError('unauthenticated', 'The passkey could not be verified.', { reason: 'VERIFICATION_FAILED' }),
  exists: () =>
    new AppError('conflict', 'This passkey is registered already.', { reason: 'CREDENTIAL_EXISTS' }),
  tooMany: () =>
    new AppError('conflict', `You have ${passkeysMax} passkeys; remove one first.`, {
      reason: 'TOO_MANY_CREDENTIALS',
    }),
  notFound: () => new AppError('not_found', 'This passkey does not exist.'),
} as const;
