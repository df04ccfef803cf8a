export interface RateLimiterOptions {
  /** Requests that a key may make within any span of the window's length. */
  readonly requestsMax: number;
  readonly windowMs: number;
  /** Keys that are remembered; the one that was quiet longest gives way. */
  readonly keysMax: number;
}

export interface RateVerdict {
  readonly isAllowed: boolean;
  /** Requests that may follow at once. */
  readonly remaining: number;
  /** Until the oldest request that counts leaves the window. */
  readonly resetSeconds: number;
}

/** A sliding log: the time of each admitted request is kept until it leaves the window. Refused ones are not counted. */
export class RateLimiter {
  readonly requestsMax: number;
  readonly windowMs: number;
  readonly #keysMax: number;
  readonly #timesMax: number;
  /** Times of each key, oldest first; keys stand in the order of their last request. */
  readonly #timesByKey = new Map<string, number[]>();
  #times = 0;

  constructor({ requestsMax, windowMs, keysMax }: RateLimiterOptions) {
    this.requestsMax = requestsMax;
    this.windowMs = windowMs;
    this.#keysMax = keysMax;
    // A limit far above the usual one must not cost memory far above the usual either.
    this.#timesMax = keysMax * 20;
  }

  get size(): number {
    return this.#timesByKey.size;
  }

  /** Admits a request and counts it, or refuses it. */
  take(key: string, nowMs: number): RateVerdict {
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

  /** Whether a request would be admitted now; it is not counted. */
  look(key: string, nowMs: number): RateVerdict {
    const times = this.#timesOf(key, nowMs);
    return this.#verdict(times.length < this.requestsMax, times, nowMs);
  }

  /** Counts a request that was admitted at a time no longer. */
  giveBack(key: string, timeMs: number): void {
    const times = this.#timesByKey.get(key) ?? [];
    const index = times.lastIndexOf(timeMs);
    if (index === -1) return;
    times.splice(index, 1);
    this.#times--;
    if (times.length === 0) this.#timesByKey.delete(key);
  }

  /** Forgets keys without a request in the window. */
  sweep(nowMs: number): void {
    for (const [key, times] of this.#timesByKey) {
      if (!this.#isExpired(times.at(-1) ?? 0, nowMs)) return;
      this.#drop(key, times);
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
