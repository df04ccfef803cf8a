import { AppError, Type } from '@octavo/core';
import { sixDigits } from '../keys/codes.ts';

const filled = (options: object) => Type.String({ minLength: 1, ...options });

export const email = filled({ examples: ['alice@example.com'] });
export const opaqueToken = filled({ examples: ['b3BhcXVlIHRva2VuIG9mIDI1NiByYW5kb20gYml0cw'] });
export const uuid = Type.String({ format: 'uuid' });
export const instant = Type.String({ format: 'date-time' });

/** The response of every sign-in. */
export const Tokens = Type.Object(
  {
    access_token: filled({ examples: ['eyJhbGciOiJIUzI1NiJ9.e30.c2ln'] }),
    refresh_token: opaqueToken,
  },
  { title: 'Tokens' },
);

export function message<T extends string>(text: T) {
  return Type.Object({ message: Type.Literal(text) });
}

/** Six digits; spaces and hyphens between them are ignored: see {@link codeOf}. */
export const Code = filled({ examples: ['123456'] });

/** The six digits of a code, also if they were typed in groups. */
export function codeOf(given: string): string {
  const digits = sixDigits(given);
  if (digits !== undefined) return digits;
  throw new AppError('invalid_input', 'code must be six digits', { fields: { code: 'must be six digits' } });
}

export function isoTime(instantMs: number): string {
  return new Date(instantMs).toISOString();
}
