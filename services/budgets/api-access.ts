import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Jwt } from '#kit/auth/jwt.ts';
import type { TokenBucket } from '#kit/auth/token-bucket.ts';
import type { Clock } from '#kit/clock.ts';
import type { AccessRule } from '#kit/http/access.ts';
import { rateLimited } from '#kit/http/rate-limit.ts';
import { authenticateHeader, type SignedIn } from './authentication/index.ts';
import type { Caller, Core } from './commands.ts';
import { idempotencyKeyOf } from './idempotency-key.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The account and session of the bearer token, on routes that require one. */
    signedIn: SignedIn | undefined;
  }
}

/** The limit of a user's requests, which all edges share; absent if it is off. */
export interface UserLimit {
  readonly bucket: TokenBucket | undefined;
  readonly perMinute: number;
  readonly clock: Clock;
}

/** Requires a bearer token, and counts the request for its user, before the body is read. */
export function createBearer(core: Core, tokens: Jwt, limit: UserLimit): AccessRule {
  return {
    security: [{ bearer: [] }],
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      const signedIn = await authenticateHeader(core, tokens, request.headers.authorization);
      request.signedIn = signedIn;
      request.userId = signedIn.userId;
      countRequest(limit, signedIn, reply);
    },
  };
}

/** Throws `rate_limited` if a user makes too many requests. */
export function countRequest(
  { bucket, perMinute, clock }: UserLimit,
  { userId }: Caller,
  reply?: FastifyReply,
): void {
  if (!bucket) return;
  const { isAllowed, remaining, resetSeconds } = bucket.take(userId, clock.now());
  reply
    ?.header('ratelimit-policy', `"user";q=${perMinute};w=60, "burst";q=${bucket.requestsMax};w=1`)
    .header('ratelimit', `"user";r=${remaining};t=${resetSeconds}`);
  if (!isAllowed) throw rateLimited(resetSeconds);
}

/** The caller, on routes with a bearer token. */
export function callerOf({ signedIn }: FastifyRequest): SignedIn {
  if (!signedIn) throw new Error('the route does not require a token');
  return signedIn;
}

/** The caller of a command, who may want it to happen once. A replayed response has `Idempotent-Replayed: true`. */
export function commanderOf(request: FastifyRequest, reply: FastifyReply): SignedIn {
  const caller = callerOf(request);
  const key = idempotencyKeyOf(request);
  if (key === undefined) return caller;
  const { method, url, body } = request;
  const digest = createHash('sha256')
    .update(JSON.stringify([method, url, body ?? null]))
    .digest('base64url');
  const onReplayed = () => void reply.header('idempotent-replayed', 'true');
  return { ...caller, idempotency: { key, digest, onReplayed } };
}
