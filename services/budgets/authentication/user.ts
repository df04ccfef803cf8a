import { AppError, type Static, Type } from '@octavo/core';
import { createParser } from '../edges/schema-parser.ts';
import type { AccountRow } from '../store/tables.ts';

/** An account as its owner sees it. */
export const User = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    username: Type.Union([Type.String(), Type.Null()]),
    email: Type.String({ examples: ['alice@example.com'] }),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'User' },
);
export type User = Static<typeof User>;

export const Profile = Type.Object(
  { ...User.properties, emailVerified: Type.Boolean(), updatedAt: Type.String({ format: 'date-time' }) },
  { title: 'Profile' },
);
export type Profile = Static<typeof Profile>;

/** Limits in code points. */
export const accountLimits = { email: 320, password: 1_024, username: 64 } as const;

const email = Type.String({
  minLength: 1,
  maxLength: accountLimits.email,
  format: 'text',
  examples: ['alice@example.com'],
});
const password = Type.String({
  minLength: 1,
  maxLength: accountLimits.password,
  examples: ['correct horse battery staple'],
});
const username = Type.String({
  minLength: 1,
  maxLength: accountLimits.username,
  format: 'name',
  examples: ['alice'],
});
/** Throws `validation_failed` for a name that an account cannot have. Pages have no schema. */
export const checkUsername = createParser(
  Type.Object({ username: Type.Optional(Type.Union([username, Type.Null()])) }),
);

const token = Type.String({ minLength: 1, maxLength: 512 });

export const Registration = Type.Object(
  { email, password, username: Type.Optional(username) },
  { title: 'Registration' },
);
export type Registration = Static<typeof Registration>;

export const Login = Type.Object({ email, password }, { title: 'Login' });
export type Login = Static<typeof Login>;

export const EmailVerification = Type.Object(
  {
    token: Type.Optional(
      Type.String({ ...token, description: 'From the mail; or e-mail, to get another mail' }),
    ),
    email: Type.Optional(email),
  },
  { title: 'EmailVerification' },
);
export type EmailVerification = Static<typeof EmailVerification>;

export const PasswordReset = Type.Object(
  {
    email: Type.Optional(email),
    token: Type.Optional(token),
    newPassword: Type.Optional(password),
  },
  { title: 'PasswordReset' },
);
export type PasswordReset = Static<typeof PasswordReset>;

export const ProfileChange = Type.Object(
  {
    username: Type.Optional(Type.Union([username, Type.Null()])),
    email: Type.Optional(email),
    newPassword: Type.Optional(password),
    password: Type.Optional(
      Type.String({ ...password, description: 'The current one; required with email and newPassword' }),
    ),
  },
  { title: 'ProfileChange' },
);
export type ProfileChange = Static<typeof ProfileChange>;

export const Confirmation = Type.Object({ password }, { title: 'Confirmation' });

/** Unused address for people of a provider without a verified one. It is never shown. */
export function placeholderAddress(id: string): string {
  return `${id}@${placeholderDomain}`;
}

/** The address of an account; undefined for a placeholder. */
export function addressOf({ email }: Pick<AccountRow, 'email'>): string | undefined {
  return email.endsWith(`@${placeholderDomain}`) ? undefined : email;
}

const placeholderDomain = 'accounts.invalid';

export function toUser({ id, username, email, created_at_ms }: AccountRow): User {
  return { id, username, email, createdAt: new Date(created_at_ms).toISOString() };
}

export function toProfile(row: AccountRow): Profile {
  return {
    ...toUser(row),
    emailVerified: row.email_verified === 1,
    updatedAt: new Date(row.updated_at_ms).toISOString(),
  };
}

export const errors = {
  unauthorized: () => new AppError('unauthenticated', 'A valid bearer token is required. Log in to get one.'),
  disabled: () => new AppError('forbidden', 'This account is disabled.', { reason: 'ACCOUNT_DISABLED' }),
  wrongCredentials: () => new AppError('unauthenticated', 'The e-mail address or the password is wrong.'),
  wrongPassword: () =>
    new AppError('unauthenticated', 'The password is wrong.', { fields: { password: 'is wrong' } }),
  locked: (retryAfterSeconds: number) =>
    new AppError('locked', 'Too many wrong passwords. Try again later.', {
      reason: 'ACCOUNT_LOCKED',
      retryAfterSeconds,
    }),
  taken: () =>
    new AppError('conflict', 'This e-mail address is already registered.', {
      fields: { email: 'is already registered' },
    }),
} as const;
