export interface RateLimiterOptions {
  /** Requests that a key may make within any span of `windowMs`. */
  readonly requestsMax: number;
  readonly windowMs: number;
  /** Keys to remember. Beyond that, the key that was idle longest is dropped. */
  readonly keysMax: number;
}

export interface RateVerdict {
  readonly isAllowed: boolean;
  /** Requests that the key may still make now. */
  readonly remaining: number;
  /** Time until the oldest counted request leaves the window. */
  readonly resetSeconds: number;
}

/** Expired keys that one request removes at most. It adds one, so they do not pile up. */
const removedAtOnce = 10;

/**
 * Limits requests by a sliding log: it keeps the time of each admitted request until it leaves the window. Rejected requests do not count.
 * Keys without a request in the window are removed by later requests.
 */
export class RateLimiter {
  readonly requestsMax: number;
  readonly windowMs: number;
  readonly #keysMax: number;
  readonly #timesMax: number;
  /** Times by key, oldest first. Keys are in the order of their last request. */
  readonly #timesByKey = new Map<string, number[]>();
  #times = 0;

  constructor({ requestsMax, windowMs, keysMax }: RateLimiterOptions) {
    this.requestsMax = requestsMax;
    this.windowMs = windowMs;
    this.#keysMax = keysMax;
    // Bounds the memory for limits far above the usual one.
    this.#timesMax = keysMax * 20;
  }

  get size(): number {
    return this.#timesByKey.size;
  }

  /** Admits and counts a request, or rejects it. */
  take(key: string, nowMs: number): RateVerdict {
    this.#removeExpired(nowMs);
    const times = this.#timesOf(key, nowMs);
    const isAllowed = times.length < this.requestsMax;
    if (isAllowed) {
      times.push(nowMs);
      this.#times++;
      this.#timesByKey.delete(key);
      this.#timesByKey.set(key, times);
      this.#makeRoom();
    }
    return this.#verdict(isAllowed, times, nowMs);
  }

  /** Checks a request against the limit without counting it. */
  look(key: string, nowMs: number): RateVerdict {
    const times = this.#timesOf(key, nowMs);
    return this.#verdict(times.length < this.requestsMax, times, nowMs);
  }

  /** Undoes the count of a request that was admitted at a time. */
  giveBack(key: string, timeMs: number): void {
    const times = this.#timesByKey.get(key) ?? [];
    const index = times.lastIndexOf(timeMs);
    if (index === -1) return;
    times.splice(index, 1);
    this.#times--;
    if (times.length === 0) this.#timesByKey.delete(key);
  }

  #removeExpired(nowMs: number): void {
    let removed = 0;
    for (const [key, times] of this.#timesByKey) {
      if (removed === removedAtOnce || !this.#isExpired(times.at(-1) ?? 0, nowMs)) return;
      this.#drop(key, times);
      removed++;
    }
  }

  #timesOf(key: string, nowMs: number): number[] {
    const times = this.#timesByKey.get(key) ?? [];
    this.#dropExpired(times, nowMs);
    return times;
  }

  #verdict(isAllowed: boolean, times: readonly number[], nowMs: number): RateVerdict {
    const [oldestMs = nowMs] = times;
    return {
      isAllowed,
      remaining: this.requestsMax - times.length,
      resetSeconds: Math.max(1, Math.ceil((oldestMs + this.windowMs - nowMs) / 1_000)),
    };
  }

  #dropExpired(times: number[], nowMs: number): void {
    let expired = 0;
    while (expired < times.length && this.#isExpired(times[expired] ?? 0, nowMs)) expired++;
    if (expired === 0) return;
    times.splice(0, expired);
    this.#times -= expired;
  }

  #isExpired(timeMs: number, nowMs: number): boolean {
    return timeMs + this.windowMs <= nowMs;
  }

  #makeRoom(): void {
    while (
      this.#timesByKey.size > this.#keysMax ||
      (this.#times > this.#timesMax && this.#timesByKey.size > 1)
    ) {
      const [key, times] = this.#timesByKey.entries().next().value as [string, number[]];
      this.#drop(key, times);
    }
  }

  #drop(key: string, times: number[]): void {
    this.#timesByKey.delete(key);
    this.#times -= times.length;
  }
}
