import { AppError } from '#kit/errors.ts';
import { Type } from '#kit/schema.ts';

const given = (options: object = {}) => Type.String({ minLength: 1, ...options });
const jwt = given({ examples: ['eyJhbGciOiJIUzI1NiJ9.e30.c2ln'] });
const opaque = given({ examples: ['b3BhcXVlIHRva2VuIG9mIDI1NiByYW5kb20gYml0cw'] });
const instant = Type.String({ format: 'date-time' });
const uuid = Type.String({ format: 'uuid' });

export const email = given({ examples: ['alice@example.com'] });
export const Tokens = Type.Object({ access_token: jwt, refresh_token: opaque });
export const RefreshToken = Type.Object({ refresh_token: opaque });
export const Revocation = Type.Object({ token: opaque });
export const SessionId = Type.Object({ id: Type.String() });

export const Profile = Type.Object({
  id: uuid,
  email: Type.String({
    description: 'A label that anybody may have given, unless email_verified',
    examples: ['alice@example.com'],
  }),
  email_verified: Type.Boolean(),
  created_at: instant,
  totp: Type.Boolean({ description: 'Whether an authenticator app is set up' }),
  passkeys: Type.Integer(),
  recovery_codes: Type.Integer({ description: 'Those that are left' }),
});

export const SessionList = Type.Object({
  sessions: Type.Array(
    Type.Object({
      id: uuid,
      current: Type.Boolean({ description: 'The session of the token that asks' }),
      amr: Type.Array(Type.String(), {
        description: 'How the user signed in (RFC 8176)',
        examples: [['email']],
      }),
      created_at: instant,
      last_used_at: instant,
      expires_at: instant,
      address: Type.String({ examples: ['192.0.2.7'] }),
      user_agent: Type.String({ examples: ['Firefox'] }),
    }),
  ),
});

export function message<T extends string>(text: T) {
  return Type.Object({ message: Type.Literal(text) });
}

/** Six digits, also typed in groups: see {@link codeOf}. */
export const Code = Type.String({ minLength: 1, examples: ['123456'] });

export const VerifyMagic = Type.Object({
  token: Type.Optional(Type.String()),
  email: Type.Optional(email),
  code: Type.Optional(Code),
});

/** The six digits of a code, also where they were typed in groups. */
export function codeOf(given: string): string {
  const digits = given.replace(/[\s-]/g, '');
  if (!/^[0-9]{6}$/.test(digits)) {
    throw new AppError('invalid_input', 'code must be six digits', {
      fields: { code: 'must be six digits' },
    });
  }
  return digits;
}
