import { AppError } from '#kit/errors.ts';
import { authErrors } from '../errors.ts';
import type { User } from '../users/index.ts';
import type { Session } from './session.ts';

/** Who holds the access token of a request. */
export interface Caller {
  readonly user: User;
  readonly session: Session;
}

/** Whom a token speaks for; nobody where it is missing, bad or out of date. */
export async function orUndefined(caller: Promise<Caller>): Promise<Caller | undefined> {
  try {
    return await caller;
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return undefined;
    throw error;
  }
}

/** How long after signing in somebody may add or remove a way to sign in without doing so again. */
export const freshMs = 600_000;

/** Throws EMAIL_MISMATCH or REAUTH_REQUIRED where a token does not entitle its holder to add a factor. */
export function checkFresh(caller: Caller, email: string | undefined, nowMs: number): void {
  if (email !== undefined && caller.user.email !== email) throw authErrors.emailMismatch();
  if (!isFresh(caller, nowMs)) throw authErrors.reauthRequired();
}

/** Whether somebody signed in a moment ago. */
export function isFresh({ session }: Caller, nowMs: number): boolean {
  return nowMs - session.authenticatedMs <= freshMs;
}
