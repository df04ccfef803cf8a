import { AppError } from '@octavo/core';
import { authErrors } from '../errors.ts';
import type { User } from '../users/index.ts';
import type { Session } from './session.ts';

/** The user and session of an access token. */
export interface Caller {
  readonly user: User;
  readonly session: Session;
}

/** Undefined if the token is missing, invalid or expired. */
export async function orUndefined(caller: Promise<Caller>): Promise<Caller | undefined> {
  try {
    return await caller;
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return undefined;
    throw error;
  }
}

/** Time after signing in during which a user may change their sign-in methods. */
const freshMs = 600_000;

/** Throws EMAIL_MISMATCH if the token is for another address, or REAUTH_REQUIRED if its user signed in too long ago. */
export function checkFresh(caller: Caller, email: string | undefined, nowMs: number): void {
  if (email !== undefined && caller.user.email !== email) throw authErrors.emailMismatch();
  if (!isFresh(caller, nowMs)) throw authErrors.reauthRequired();
}

/** Returns true if the user signed in recently enough to change their sign-in methods. */
export function isFresh({ session }: Caller, nowMs: number): boolean {
  return nowMs - session.authenticatedMs <= freshMs;
}
