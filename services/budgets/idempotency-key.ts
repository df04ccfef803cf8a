import type { FastifyRequest } from 'fastify';
import { AppError } from '#kit/errors.ts';
import { Type } from '#kit/schema.ts';

export const IdempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description:
        'Up to 255 visible ASCII characters. For 24 hours the same request gets the same response, and nothing happens twice.',
    }),
  ),
});

const problem = 'must be 1 to 255 visible ASCII characters';

/** The `Idempotency-Key` of a request. Throws `invalid_input` if it is malformed. */
export function idempotencyKeyOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key))) return key;
  throw new AppError('invalid_input', `Idempotency-Key ${problem}`, {
    fields: { 'Idempotency-Key': problem },
  });
}
