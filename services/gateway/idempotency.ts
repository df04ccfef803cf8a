import { AppError } from '#kit/errors.ts';
import { Type } from '#kit/schema.ts';

const keyCharactersMax = 255;

/** The header that makes a second request with the same key and body a replay. */
export const IdempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description: `Up to ${keyCharactersMax} visible ASCII characters. For 24 hours the same request gets the same response.`,
    }),
  ),
});

/** The key in an `Idempotency-Key` header. Throws `invalid_input`. */
export function idempotencyKeyOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (header.length <= keyCharactersMax && /^[\x21-\x7e]+$/.test(header)) return header;
  const problem = `must be 1 to ${keyCharactersMax} visible ASCII characters`;
  throw new AppError('invalid_input', `Idempotency-Key ${problem}`, {
    fields: { 'Idempotency-Key': problem },
  });
}

/** A key as the posts service stores it: those of different callers are independent. */
export function callersKey(uid: number, key: string): string {
  return `${uid}:${key}`;
}
