import { createHmac } from 'node:crypto';
import type { WriteSession } from '@octavo/data';
import { idempotencyKeyOf, markReplayed } from '@octavo/web/rest';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Context, idempotencyMs, type ResultStore, runOnce } from '../commands.ts';
import type { Tables } from '../store/tables.ts';
import { findAnonymousKey, putAnonymousKey, sweepAnonymousKeys } from './store.ts';

/** A request of a stranger that is carried out once. */
export interface Once {
  readonly keyHash: string;
  readonly digest: string;
  /** Called if the result is that of an earlier request. */
  onReplayed(): void;
}

/** Reads Idempotency-Keys. Keys and requests are stored as HMACs, since requests hold passwords and tokens of mails. */
export class AnonymousIdempotency {
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
      onReplayed: () => markReplayed(reply),
    };
  }

  #macOf(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('base64url');
  }
}

/** Stored result of a request. It must not hold secrets: tokens are signed again. */
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
  let owner: number | null = null;
  const results: ResultStore = {
    digest,
    nowMs,
    find: (sinceMs) => findAnonymousKey.first(session, { keyHash, sinceMs }),
    put: (result) => putAnonymousKey.run(session, { keyHash, owner, digest, result, nowMs }),
  };
  const { result, isReplayed } = await runOnce(results, async () => {
    const done = await work();
    owner = done.owner ?? null;
    return done.result;
  });
  if (isReplayed) once.onReplayed();
  return result;
}

/** Deletes keys that have expired. */
export async function sweepOnceKeys({ db, clock }: Context): Promise<void> {
  await sweepAnonymousKeys(db, clock.now() - idempotencyMs);
}
