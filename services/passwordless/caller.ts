import { AppError } from '#kit/errors.ts';
import type { Session } from './session.ts';
import type { User } from './user.ts';

/** Who holds the access token of a request. */
export interface Caller {
  readonly user: User;
  readonly session: Session;
}

/** Whom a token speaks for; nobody where it is missing, bad or out of date. */
export async function orNobody(caller: Promise<Caller>): Promise<Caller | undefined> {
  try {
    return await caller;
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') return undefined;
    throw error;
  }
}
