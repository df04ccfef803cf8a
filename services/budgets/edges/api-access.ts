import type { Clock } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { TokenBucket } from '@octavo/core/auth';
import { cursorPaging, type Idempotency, idempotencyOf } from '@octavo/web/rest';
import type { AccessRule } from '@octavo/web/server';
import { rateLimited } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { authenticateHeader, type SignedIn, type Tokens } from '../authentication/index.ts';
import type { Caller, Context } from '../commands.ts';

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
export function createBearer(context: Context, tokens: Tokens, limit: UserLimit): AccessRule {
  return {
    security: [{ bearer: [] }],
    onRequest: async (request: FastifyRequest, reply: FastifyReply) => {
      const signedIn = await authenticateHeader(context, tokens, request.headers.authorization);
      request.signedIn = signedIn;
      request.userId = signedIn.userId;
      countRequest(limit, signedIn, reply);
      checkParameters(request);
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

/** Throws `invalid_input` for a parameter that the route does not have: a filter that is misspelled must not give everything. */
function checkParameters(request: FastifyRequest): void {
  const given = Object.keys(request.query as object);
  if (given.length === 0) return;
  const { querystring = {} } = request.routeOptions.schema ?? {};
  const { properties } = querystring as { readonly properties?: object };
  if (!properties) return;
  const unknown = given.filter((name) => !Object.hasOwn(properties, name));
  if (unknown.length === 0) return;
  const known = Object.keys(properties).join(', ');
  const fields = Object.fromEntries(unknown.map((name) => [name, `is no parameter of this route: ${known}`]));
  throw new AppError('invalid_input', `${unknown[0]} is no parameter of this route, which takes ${known}.`, {
    fields,
  });
}

/** The caller, on routes with a bearer token. */
export function callerOf({ signedIn }: FastifyRequest): SignedIn {
  if (!signedIn) throw new Error('the route does not require a token');
  return signedIn;
}

/** The caller of a command, who may want it to happen once. A replayed response has `Idempotent-Replayed: true`. */
export function callerWithIdempotencyKey(request: FastifyRequest, reply: FastifyReply): SignedIn {
  return { ...callerOf(request), idempotency: idempotencyOf(request, reply) };
}

/** Parts that all resources of an account share. */
export function owned(access: AccessRule) {
  return {
    access,
    paging: cursorPaging(),
    errors: ['rate_limited'] as const,
    callerOf: (request: FastifyRequest, idempotency?: Idempotency): SignedIn => ({
      ...callerOf(request),
      idempotency,
    }),
  };
}
