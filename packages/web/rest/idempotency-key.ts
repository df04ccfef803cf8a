import { createHash } from 'node:crypto';
import { AppError, Type } from '@octavo/core';
import type { FastifyReply, FastifyRequest } from 'fastify';

const charactersMax = 255;

/** The header that makes a second request with the same key and body a replay. */
export const IdempotencyHeader = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      description: `Up to ${charactersMax} visible ASCII characters. For 24 hours the same request gets the same response, and nothing happens twice.`,
    }),
  ),
});

const problem = `must be 1 to ${charactersMax} visible ASCII characters`;

/** The `Idempotency-Key` of a request. Throws `invalid_input` if it is malformed. */
export function idempotencyKeyOf({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && key.length <= charactersMax && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new AppError('invalid_input', `Idempotency-Key ${problem}`, {
    fields: { 'Idempotency-Key': problem },
  });
}

/** A request that is carried out once. */
export interface Idempotency {
  readonly key: string;
  /** SHA-256 of the method, the address and the body: the same key with another one is a conflict. */
  readonly digest: string;
  /** Marks the response as that of an earlier request: `Idempotent-Replayed: true`. */
  onReplayed(): void;
}

/** The key of a request and its digest; undefined without a key. Throws `invalid_input` if the key is malformed. */
export function idempotencyOf(request: FastifyRequest, reply: FastifyReply): Idempotency | undefined {
  const key = idempotencyKeyOf(request);
  if (key === undefined) return undefined;
  const { method, url, body } = request;
  const digest = createHash('sha256')
    .update(JSON.stringify([method, url, body ?? null]))
    .digest('base64url');
  return { key, digest, onReplayed: () => markReplayed(reply) };
}

/** Adds `Idempotent-Replayed: true`. */
export function markReplayed(reply: FastifyReply): void {
  reply.header('idempotent-replayed', 'true');
}
