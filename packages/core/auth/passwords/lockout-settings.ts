import { integer, type Settings } from '../../base/config.ts';

/** Settings of the lockout after wrong passwords. */
export const lockoutSettings = {
  LOCKOUT_THRESHOLD: integer({
    default: 5,
    min: 1,
    max: 100,
    help: 'Wrong passwords in a row after which sign-in to an account is locked',
  }),
  LOCKOUT_MS: integer({ default: 900_000, min: 1, max: 86_400_000, help: 'Duration of a lock' }),
} satisfies Settings;
