import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RateLimiter, RateVerdict } from '../../auth/rate-limiter.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { networkOf } from '../../base/network.ts';
import { clientAddress } from './client-address.ts';

/** A limit on the requests of one client, with its name in the headers. */
export interface RateLimit<L extends Limiter = RateLimiter> {
  readonly name: string;
  readonly limiter: L;
}

/** Methods that a `RateLimiter` and a `TokenBucket` have in common. */
export type Limiter = Pick<RateLimiter, 'requestsMax' | 'windowMs' | 'take' | 'look'>;

/**
 * Counts a request for its client (an IPv6 client is its /64) against all given limits. Throws `rate_limited` if it exceeds any
 * of them; then it counts against none. The response has `RateLimit-Policy` and `RateLimit`
 * (draft-ietf-httpapi-ratelimit-headers), and `X-RateLimit-*` for the limit with the fewest requests left, with its reset in Unix
 * seconds. Clients that are told apart by something else than their address are given by it.
 */
export function limitRequests(
  limits: readonly RateLimit<Limiter>[],
  clock: Clock,
): (request: FastifyRequest, reply: FastifyReply, client?: string) => void {
  if (limits.length === 0) return () => {};
  const policy = limits.map(policyOf).join(', ');
  return (request, reply, client = networkOf(clientAddress(request))) => {
    const nowMs = clock.now();
    const verdicts = takeAll(limits, client, nowMs);
    const closest = verdicts.reduce((one, other) => (isCloser(other, one) ? other : one));
    reply
      .header('ratelimit-policy', policy)
      .header('ratelimit', verdicts.map(rateLimitHeader).join(', '))
      .header('x-ratelimit-limit', String(closest.limiter.requestsMax))
      .header('x-ratelimit-remaining', String(closest.remaining))
      .header('x-ratelimit-reset', String(Math.ceil(nowMs / 1_000) + closest.resetSeconds));
    if (!closest.isAllowed) throw rateLimited(closest.resetSeconds);
  };
}

/** Counts a client's request against all limits if each of them admits it, else against none. */
export function takeAll(
  limits: readonly RateLimit<Limiter>[],
  client: string,
  nowMs: number,
): (RateLimit<Limiter> & RateVerdict)[] {
  const isAllowed = limits.every(({ limiter }) => limiter.look(client, nowMs).isAllowed);
  return limits.map(({ name, limiter }) => {
    return { name, limiter, ...(isAllowed ? limiter.take(client, nowMs) : limiter.look(client, nowMs)) };
  });
}

/** The error for a client that made too many requests. */
export function rateLimited(retryAfterSeconds: number): AppError {
  return new AppError('rate_limited', 'Too many requests. Try again later.', { retryAfterSeconds });
}

function policyOf({ name, limiter }: RateLimit<Limiter>): string {
  return `"${name}";q=${limiter.requestsMax};w=${Math.ceil(limiter.windowMs / 1_000)}`;
}

function rateLimitHeader({ name, remaining, resetSeconds }: RateVerdict & { name: string }): string {
  return `"${name}";r=${remaining};t=${resetSeconds}`;
}

function isCloser(one: RateVerdict, other: RateVerdict): boolean {
  if (one.isAllowed !== other.isAllowed) return !one.isAllowed;
  return one.remaining < other.remaining;
}
