import { Type } from '@octavo/core';
import type { HttpApp } from '@octavo/web/server';
import { type ApiAccess, bearerErrors, callerOf, senderOf } from '../api/access.ts';
import { instant, isoTime, message, uuid } from '../api/schemas.ts';
import { authErrors } from '../errors.ts';
import { routes } from '../routes.ts';
import type { Accounts } from './accounts.ts';

const tags = ['account'];
const deleted = { message: 'Account deleted' } as const;

const Profile = Type.Object(
  {
    id: uuid,
    email: Type.String({
      description: 'Unproven, unless email_verified is true',
      examples: ['alice@example.com'],
    }),
    email_verified: Type.Boolean(),
    created_at: instant,
    totp: Type.Boolean({ description: 'True if an authenticator app is set up' }),
    passkeys: Type.Integer({ description: 'Number of passkeys' }),
    recovery_codes: Type.Integer({ description: 'Number of unused recovery codes' }),
  },
  { title: 'Profile' },
);

export function addAccountApi(app: HttpApp, parts: { accounts: Accounts; access: ApiAccess }): void {
  const { accounts, access } = parts;
  app.get(
    routes.me,
    {
      access: access.bearer,
      schema: {
        tags,
        response: { 200: Profile },
        summary: 'The user of the token',
        description:
          'Returns the id and the e-mail address of the caller, and how many sign-in methods of each kind they have.',
      },
      config: { errors: [...bearerErrors] },
    },
    async (request) => {
      const caller = callerOf(request);
      const { id, email, isVerified, createdMs } = caller.user;
      const { totp, passkeys, recoveryCodes } = await accounts.factors(caller);
      return {
        id,
        email,
        email_verified: isVerified,
        created_at: isoTime(createdMs),
        totp,
        passkeys,
        recovery_codes: recoveryCodes,
      };
    },
  );
  app.delete(
    routes.me,
    {
      access: access.bearer,
      schema: {
        tags,
        response: { 200: message(deleted.message) },
        summary: 'Delete the account and everything that belongs to it',
        description:
          'Ends all sessions and deletes passkeys, codes and links. It cannot be undone; the address can then be used again.',
      },
      config: { errors: [authErrors.reauthRequired(), ...bearerErrors] },
    },
    async (request) => {
      await accounts.remove(callerOf(request), senderOf(request));
      return deleted;
    },
  );
}
