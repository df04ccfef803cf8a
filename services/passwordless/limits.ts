import { RateLimiter } from '@octavo/core/auth';
import type { SharedLimits, SharedRateLimiter } from '@octavo/data/limits';
import type { RateLimit } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PasswordlessConfig } from './settings.ts';

const keysMax = 100_000;
const minuteMs = 60_000;

/** Counts a request against the limits of its client. Throws RATE_LIMITED. */
export type LimitRequest = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** The limits of OpenID Connect, each with counters of its own: what one kind of request uses up, another one still has. */
export interface OidcLimits {
  /** Browsers. */
  readonly page: LimitRequest;
  /** Applications that proved nothing yet. */
  readonly call: LimitRequest;
  /** An application that proved its secret, wherever its requests come from. */
  application(request: FastifyRequest, reply: FastifyReply, id: string): Promise<void>;
}

/** The limits of the API, which the forms of the pages share. */
export interface RequestLimits {
  readonly post: LimitRequest;
  /** Adding a sign-in method. */
  readonly enroll: LimitRequest;
  /** Sending a link, a code or the response to a challenge. */
  readonly verify: LimitRequest;
  /** Exchanging a refresh token. */
  readonly refresh: LimitRequest;
  readonly oidc: OidcLimits;
  /**
   * Calls `send` to send a magic link, unless the client has reached its limit. The client is never told. With sign-up off it is called after the
   * response, as unknown addresses take less time. `send` returns whether the request
   * counts: one that the limit of the address refused does not.
   */
  sendMagic(request: FastifyRequest, send: () => Promise<boolean>): Promise<void>;
}

type SharedRateLimit = RateLimit<SharedRateLimiter>;

/**
 * The request counters by client: what protects accounts and mailboxes is shared by all processes, what protects a process is its own. A
 * limit that is off is an empty list.
 */
export class Limits {
  readonly post: readonly RateLimit[];
  readonly magic: readonly SharedRateLimit[];
  readonly enroll: readonly SharedRateLimit[];
  readonly verify: readonly SharedRateLimit[];
  readonly refresh: readonly RateLimit[];
  readonly oidcPage: readonly RateLimit[];
  readonly oidcCall: readonly RateLimit[];
  readonly oidcApplication: readonly RateLimit[];

  constructor(config: PasswordlessConfig, shared: SharedLimits) {
    this.post = limitOf('post', config.PASSWORDLESS_LIMIT_POST_PER_IP, 5 * minuteMs);
    this.magic = shared.named('magic', config.PASSWORDLESS_LIMIT_MAGIC_PER_IP, 10 * minuteMs);
    this.enroll = shared.named('enroll', config.PASSWORDLESS_LIMIT_ENROLL_PER_IP, 10 * minuteMs);
    this.verify = shared.named('verify', config.PASSWORDLESS_LIMIT_VERIFY_PER_IP, 5 * minuteMs);
    this.refresh = limitOf('refresh', config.PASSWORDLESS_LIMIT_REFRESH_PER_IP, 5 * minuteMs);
    const oidcMax = config.PASSWORDLESS_LIMIT_OIDC_PER_IP;
    this.oidcPage = limitOf('oidc', oidcMax, 5 * minuteMs);
    this.oidcCall = limitOf('oidc', oidcMax, 5 * minuteMs);
    const applicationMax = config.PASSWORDLESS_LIMIT_OIDC_PER_APPLICATION;
    this.oidcApplication = limitOf('oidc-application', applicationMax, 5 * minuteMs);
  }
}

function limitOf(name: string, requestsMax: number, windowMs: number): RateLimit[] {
  return requestsMax > 0 ? [{ name, limiter: new RateLimiter({ requestsMax, windowMs, keysMax }) }] : [];
}
