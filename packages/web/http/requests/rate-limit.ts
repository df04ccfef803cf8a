import type { Clock } from '@octavo/core';
import { AppError, networkOf } from '@octavo/core';
import type { RateLimiter, RateVerdict } from '@octavo/core/auth';
import type { SharedRateLimiter } from '@octavo/data/limits';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientAddress } from './client-address.ts';

/** A limit on the requests of one client, with its name in the headers. */
export interface RateLimit<L extends Pick<Limiter, 'requestsMax' | 'windowMs'> = RateLimiter> {
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
    announce(reply, { policy, verdicts: takeAll(limits, client, nowMs), nowMs });
  };
}

/** Counts a request of a client, by default that of its address. Throws `rate_limited`. */
export type LimitSharedRequest = (
  request: FastifyRequest,
  reply: FastifyReply,
  client?: string,
) => Promise<void>;

/** Limits of one route: those of this process, and those that all processes of the service share. */
export interface RouteLimits {
  readonly local?: readonly RateLimit[];
  readonly shared: readonly RateLimit<SharedRateLimiter>[];
}

/**
 * {@link limitRequests} with limits that all processes of a service share. Those of this process come first: what they refuse asks the
 * database nothing, and its response has no state of the shared ones.
 */
export function limitSharedRequests(limits: RouteLimits, clock: Clock): LimitSharedRequest {
  const { local = [], shared } = limits;
  if (shared.length === 0 && local.length === 0) return async () => {};
  const policy = [...local, ...shared].map(policyOf).join(', ');
  return async (request, reply, client = networkOf(clientAddress(request))) => {
    const nowMs = clock.now();
    announce(reply, { policy, verdicts: await takeAllShared(limits, client, nowMs), nowMs });
  };
}

/** Adds the headers of limits to a response. Throws `rate_limited` if one of them refuses. */
function announce(
  reply: FastifyReply,
  {
    policy,
    verdicts,
    nowMs,
  }: { readonly policy: string; readonly verdicts: readonly NamedVerdict[]; readonly nowMs: number },
): void {
  const closest = verdicts.reduce((one, other) => (isCloser(other, one) ? other : one));
  reply
    .header('ratelimit-policy', policy)
    .header('ratelimit', verdicts.map(rateLimitHeader).join(', '))
    .header('x-ratelimit-limit', String(closest.limiter.requestsMax))
    .header('x-ratelimit-remaining', String(closest.remaining))
    .header('x-ratelimit-reset', String(Math.ceil(nowMs / 1_000) + closest.resetSeconds));
  if (!closest.isAllowed) throw rateLimited(closest.resetSeconds);
}

type NamedVerdict = RateLimit<Pick<Limiter, 'requestsMax' | 'windowMs'>> & RateVerdict;

/** Counts a client's request against all limits if each of them admits it, else against none. */
export async function takeAllShared(
  { local = [], shared }: RouteLimits,
  client: string,
  nowMs: number,
): Promise<NamedVerdict[]> {
  const here = takeAll(local, client, nowMs);
  if (here.some(({ isAllowed }) => !isAllowed)) return here;
  const there: (RateLimit<SharedRateLimiter> & RateVerdict)[] = [];
  for (const { name, limiter } of shared) {
    const verdict = { name, limiter, ...(await limiter.take(client, nowMs)) };
    there.push(verdict);
    if (verdict.isAllowed) continue;
    for (const { limiter: counted } of local) counted.giveBack(client, nowMs);
    for (const { limiter: counted } of there.slice(0, -1)) await counted.giveBack(client, nowMs);
    break;
  }
  return [...here, ...there];
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

function policyOf({ name, limiter }: RateLimit<Pick<Limiter, 'requestsMax' | 'windowMs'>>): string {
  return `"${name}";q=${limiter.requestsMax};w=${Math.ceil(limiter.windowMs / 1_000)}`;
}

function rateLimitHeader({ name, remaining, resetSeconds }: RateVerdict & { name: string }): string {
  return `"${name}";r=${remaining};t=${resetSeconds}`;
}

function isCloser(one: RateVerdict, other: RateVerdict): boolean {
  if (one.isAllowed !== other.isAllowed) return !one.isAllowed;
  return one.remaining < other.remaining;
}
