import { RateLimiter } from '#kit/auth/rate-limiter.ts';
import type { Config } from '#kit/config.ts';
import type { RateLimit } from '#kit/http/rate-limit.ts';
import type { settings } from './settings.ts';

const keysMax = 100_000;
const minuteMs = 60_000;

/** The limits on what one client may ask of this process; one that is off is absent. */
export class Limits {
  readonly post: readonly RateLimit[];
  readonly magic: readonly RateLimit[];
  readonly enroll: readonly RateLimit[];
  readonly verify: readonly RateLimit[];
  readonly refresh: readonly RateLimit[];

  constructor(config: Config<typeof settings>) {
    this.post = limitOf('post', config.PASSWORDLESS_LIMIT_POST_PER_IP, 5 * minuteMs);
    this.magic = limitOf('magic', config.PASSWORDLESS_LIMIT_MAGIC_PER_IP, 10 * minuteMs);
    this.enroll = limitOf('enroll', config.PASSWORDLESS_LIMIT_ENROLL_PER_IP, 10 * minuteMs);
    this.verify = limitOf('verify', config.PASSWORDLESS_LIMIT_VERIFY_PER_IP, 5 * minuteMs);
    this.refresh = limitOf('refresh', config.PASSWORDLESS_LIMIT_REFRESH_PER_IP, 5 * minuteMs);
  }

  /** Clients that are remembered. */
  get size(): number {
    return this.#all().reduce((sum, { limiter }) => sum + limiter.size, 0);
  }

  sweep(nowMs: number): void {
    for (const { limiter } of this.#all()) limiter.sweep(nowMs);
  }

  #all(): RateLimit[] {
    return [this.post, this.magic, this.enroll, this.verify, this.refresh].flat();
  }
}

function limitOf(name: string, requestsMax: number, windowMs: number): RateLimit[] {
  return requestsMax > 0 ? [{ name, limiter: new RateLimiter({ requestsMax, windowMs, keysMax }) }] : [];
}
