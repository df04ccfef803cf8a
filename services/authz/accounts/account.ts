import { AppError, type Fields } from '@octavo/core';
import { PasswordRules } from '@octavo/core/passwords';
import { type Role, roles } from '@octavo/protocols/authz/v1/permissions';

export type { Role };

export interface Account {
  readonly uid: number;
  readonly username: string;
  readonly role: Role;
  readonly disabled: boolean;
  readonly createdAtMs: number;
  /** Different after each change of the password. */
  readonly passwordChangedAtMs: number;
  readonly totpEnabled: boolean;
  /** False for a person of the OpenID provider who never had a password here. */
  readonly hasPassword: boolean;
}

/**
 * The text that identifies a username: `Alice` and `alice` are the same account. Only ASCII letters are
 * lower-cased, and a new username is ASCII only, so no two look alike.
 */
export function usernameKey(username: string): string {
  return username.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Returns true if a text is a valid user name. */
export function isUsername(username: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$/.test(username);
}

/** Returns true if a user name can contain a text. */
export function isPartOfUsername(text: string): boolean {
  return /^[A-Za-z0-9._@+-]{0,128}$/.test(text);
}

export function asRole(text: string): Role {
  const role = roles.find((known) => known === text);
  if (!role) throw new AppError('validation_failed', wrongRole, { fields: { role: wrongRole } });
  return role;
}

/** Throws `validation_failed` if a new account breaks a rule. */
export async function checkNewAccount(account: {
  username: string;
  password: string;
  role: string;
}): Promise<void> {
  throwOnProblems({
    username: isUsername(account.username) ? undefined : wrongUsername,
    password: await newPasswordProblem(account.password),
    role: (roles as readonly string[]).includes(account.role) ? undefined : wrongRole,
  });
}

export async function checkNewPassword(password: string): Promise<void> {
  throwOnProblems({ password: await newPasswordProblem(password) });
}

/** Throws `validation_failed` for a change of one's own password that breaks a rule. */
export async function checkPasswordChange(change: {
  currentPassword: string;
  newPassword: string;
}): Promise<void> {
  const { currentPassword, newPassword } = change;
  const isSame = newPassword === currentPassword ? 'must differ from the current password' : undefined;
  throwOnProblems({
    currentPassword: lengthProblem(currentPassword, 1, 1_024),
    newPassword: (await newPasswordProblem(newPassword)) ?? isSame,
  });
}

/** Throws `validation_failed` for a password that no account can have. */
export function checkPassword(password: string): void {
  throwOnProblems({ password: lengthProblem(password, 1, 1_024) });
}

/** Throws `validation_failed` for credentials that no account can have. */
export function checkCredentials(credentials: { username: string; password: string }): void {
  throwOnProblems({
    username: lengthProblem(credentials.username, 1, 128),
    password: lengthProblem(credentials.password, 1, 1_024),
  });
}

/** The error of removing the last account that can manage users. */
export function lastAdministrator(): AppError {
  const message = 'You are the last administrator. Give another user the role admin first.';
  return new AppError('precondition_failed', message, { reason: 'LAST_ADMINISTRATOR' });
}

const wrongRole = `must be one of ${roles.join(', ')}`;
const wrongUsername = 'must be 1 to 128 of A-Z a-z 0-9 . _ @ + -, and start with a letter or a digit';

const newPasswordRules = new PasswordRules({ charactersMin: 8, words: [], breached: undefined });
/** The rules of `@octavo/core/passwords` end there; no longer password is common. */
const ruledCharactersMax = 128;

async function newPasswordProblem(password: string): Promise<string | undefined> {
  const problem = lengthProblem(password, 8, 1_024);
  if (problem !== undefined || [...password].length > ruledCharactersMax) return problem;
  return newPasswordRules.problemOf(password, {});
}

/** Lengths are in Unicode code points. */
function lengthProblem(value: string, min: number, max: number): string | undefined {
  if (value === '') return 'is required';
  const length = value.length > 2 * max ? value.length : [...value].length;
  if (length < min) return `must be at least ${min} characters`;
  if (length > max) return `must be at most ${max} characters`;
  return undefined;
}

function throwOnProblems(problems: Readonly<Record<string, string | undefined>>): void {
  const fields: Fields = Object.fromEntries(
    Object.entries(problems).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const lines = Object.entries(fields).map(([name, problem]) => `${name} ${problem}`);
  if (lines.length > 0) throw new AppError('validation_failed', lines.join('; '), { fields });
}
