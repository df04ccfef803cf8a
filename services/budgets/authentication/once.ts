import { createHmac } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WriteSession } from '#kit/db/index.ts';
import { type Core, idempotencyMs, keyConflict } from '../commands.ts';
import { idempotencyKeyOf } from '../idempotency-key.ts';
import type { Tables } from '../tables.ts';
import { findAnonymousKey, putAnonymousKey, sweepAnonymousKeys } from './store.ts';

/** A request of somebody who is not signed in, which is to be carried out once. */
export interface Once {
  readonly keyHash: string;
  readonly digest: string;
  /** Called if the result is that of an earlier request. */
  onReplayed(): void;
}

/** Reads Idempotency-Keys. Keys and requests are stored as HMACs, since requests hold passwords and tokens of mails. */
export class OnceKeys {
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = createHmac('sha256', secret).update('idempotency keys').digest('base64url');
  }

  /** Undefined without an Idempotency-Key. Throws `invalid_input` if it is malformed. */
  of(request: FastifyRequest, reply: FastifyReply): Once | undefined {
    const key = idempotencyKeyOf(request);
    if (key === undefined) return undefined;
    return {
      keyHash: this.#macOf(key),
      digest: this.#macOf(JSON.stringify([request.url, request.body ?? null])),
      onReplayed: () => void reply.header('idempotent-replayed', 'true'),
    };
  }

  #macOf(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('base64url');
  }
}

/** What is kept of a request. It must not hold secrets: tokens are signed again. */
interface Done<T> {
  readonly result: T;
  /** The account whose deletion deletes the result. */
  readonly owner?: number;
}

/**
 * Does the work in the caller's transaction, or gives the result of the same request within 24 hours before. Throws `conflict` if the
 * key was used for another request.
 */
export async function doOnce<T>(
  session: WriteSession<Tables>,
  once: Once | undefined,
  nowMs: number,
  work: () => Promise<Done<T>>,
): Promise<T> {
  if (!once) return (await work()).result;
  const { keyHash, digest } = once;
  await session.lock(`request ${keyHash}`);
  const known = await findAnonymousKey.first(session, { keyHash, sinceMs: nowMs - idempotencyMs });
  if (known && known.digest !== digest) throw keyConflict();
  if (known) {
    once.onReplayed();
    return JSON.parse(known.result) as T;
  }
  const { result, owner = null } = await work();
  await putAnonymousKey.run(session, { keyHash, owner, digest, result: JSON.stringify(result), nowMs });
  return result;
}

/** Deletes keys that have expired. */
export async function sweepOnceKeys({ db, clock }: Core): Promise<void> {
  await sweepAnonymousKeys.run(db, { beforeMs: clock.now() - idempotencyMs });
}
