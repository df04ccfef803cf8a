import { AppError, type Fields } from '@octavo/core';
import { normalizeEmail } from '@octavo/core/auth';

/** An account of a service. */
export interface User {
  readonly id: number;
  /** Name as typed. */
  readonly username: string;
  readonly email: string | undefined;
  /** True if the user may sign in. */
  readonly isActive: boolean;
  /** True if the user may open the admin. */
  readonly isStaff: boolean;
  /** True if the user has every permission. */
  readonly isSuperuser: boolean;
  readonly createdAtMs: number;
  readonly lastSignInAtMs: number | undefined;
  /** Tokens that were issued before it should no longer count. */
  readonly passwordChangedAtMs: number;
}

/** A user to create. Without `isStaff` and `isSuperuser` it is an ordinary reader. */
export interface NewUser {
  readonly username: string;
  readonly password: string;
  readonly email?: string | undefined;
  readonly isActive?: boolean;
  readonly isStaff?: boolean;
  readonly isSuperuser?: boolean;
}

/** The most characters (code points) of a username. */
export const usernameCharactersMax = 150;

/** Returns the form of a username that identifies it: `Alice` and `alice` are the same user. */
export function usernameKey(username: string): string {
  return username.trim().normalize('NFKC').toLowerCase();
}

/** A username as it is stored: in Unicode form NFKC, without spaces around it. */
export function normalizeUsername(username: string): string {
  return username.trim().normalize('NFKC');
}

/** Returns the problem with a username, to be read after "User name"; undefined for a valid one. */
export function usernameProblem(username: string): string | undefined {
  const name = normalizeUsername(username);
  if (name === '') return 'is required';
  if ([...name].length > usernameCharactersMax) return `must be at most ${usernameCharactersMax} characters`;
  const isInvisible = /\p{Default_Ignorable_Code_Point}/u.test(name);
  return !isInvisible && /^[\p{L}\p{M}\p{N}_.@+-]+$/u.test(name)
    ? undefined
    : 'must be letters, digits and @ . + - _ only';
}

/** The names of a new user as they are stored. Throws `validation_failed` with the fields `username` and `email`. */
export function checkNames(given: Pick<NewUser, 'username' | 'email'>): {
  username: string;
  email: string | undefined;
} {
  const email = given.email ? normalizeEmail(given.email) : undefined;
  const problems = {
    username: usernameProblem(given.username),
    email: given.email && email === undefined ? 'must be an e-mail address' : undefined,
  };
  const fields: Fields = Object.fromEntries(
    Object.entries(problems).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const lines = Object.entries(fields).map(([name, problem]) => `${name} ${problem}`);
  if (lines.length > 0) throw new AppError('validation_failed', lines.join('; '), { fields });
  return { username: normalizeUsername(given.username), email };
}

/** The error of removing the last administrator. */
export function lastAdministrator(): AppError {
  const message = 'You are the last administrator. Make another user an administrator first.';
  return new AppError('conflict', message, { reason: 'LAST_ADMINISTRATOR' });
}

/** The error of a username that another user has. */
export function usernameTaken(cause?: unknown): AppError {
  return new AppError('conflict', 'A user with that username already exists.', {
    reason: 'USERNAME_TAKEN',
    fields: { username: 'is already taken' },
    cause,
  });
}
