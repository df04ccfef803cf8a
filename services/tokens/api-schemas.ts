import { Type } from '@octavo/core';

const required = (options: object = {}) => Type.String({ minLength: 1, ...options });
const password = required({ examples: ['correct horse battery staple'] });
const email = required({ examples: ['alice@example.com'] });
const jwt = required({ examples: ['eyJhbGciOiJIUzI1NiJ9.e30.c2ln'] });
const linkToken = required({ maxLength: 512, examples: ['the token in the link of the mail'] });
const instant = Type.String({ format: 'date-time' });
const uuid = Type.String({ format: 'uuid' });

export const Credentials = Type.Object({ email, password }, { title: 'Credentials' });
export const RefreshToken = Type.Object({ refreshToken: jwt }, { title: 'RefreshToken' });
export const PasswordChange = Type.Object(
  { currentPassword: password, newPassword: password },
  { title: 'PasswordChange' },
);
export const ResetRequest = Type.Object({ email }, { title: 'ResetRequest' });
export const PasswordReset = Type.Object(
  { token: linkToken, newPassword: password },
  { title: 'PasswordReset' },
);
export const Verification = Type.Object({ token: linkToken }, { title: 'Verification' });
export const EmailState = Type.Object(
  { email, verified: Type.Boolean({ description: 'True after a link that was mailed to it was used' }) },
  { title: 'EmailState' },
);
export const EmailChange = Type.Object({ newEmail: email, password }, { title: 'EmailChange' });
export const Confirmation = Type.Object({ password }, { title: 'Confirmation' });
export const SessionId = Type.Object({ id: Type.String() });

export const Issued = Type.Object(
  { tokens: Type.Object({ accessToken: jwt, refreshToken: jwt }) },
  { title: 'IssuedTokens' },
);
export const Profile = Type.Object({ id: uuid, email, createdAt: instant }, { title: 'Profile' });
export const SessionList = Type.Object(
  {
    sessions: Type.Array(
      Type.Object({
        id: uuid,
        current: Type.Boolean({ description: 'The session of the token in this request' }),
        createdAt: instant,
        lastUsedAt: instant,
        expiresAt: instant,
        address: Type.String({ examples: ['192.0.2.7'] }),
        userAgent: Type.String({ examples: ['Firefox'] }),
      }),
    ),
  },
  { title: 'SessionList' },
);

/** A response that is a fixed message. */
export function message<T extends string>(text: T) {
  return Type.Object({ message: Type.Literal(text) });
}
