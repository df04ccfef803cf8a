import type { RateVerdict } from './rate-limiter.ts';

export interface TokenBucketOptions {
  /** Requests that a key may make at once, after a pause. */
  readonly burst: number;
  /** Requests per minute that a key may make in the long run. */
  readonly perMinute: number;
  /** Keys to remember. Beyond that, the key that was idle longest is dropped. */
  readonly keysMax: number;
}

interface Bucket {
  /** Tokens, counted in parts of 60,000, so that sums are exact: `perMinute` parts come back each millisecond. */
  parts: number;
  atMs: number;
}

const token = 60_000;

/** Full buckets that one request removes at most. It adds one, so they do not pile up. */
const removedAtOnce = 10;

/**
 * Limits requests by a token bucket: a key has `burst` tokens, and gets `perMinute` new ones a minute until it has them all again.
 * Each request takes one. Rejected requests take none. Keys whose buckets are full again are removed by later requests.
 */
export class TokenBucket {
  /** Equal to `burst`. */
  readonly requestsMax: number;
  /** Time until an empty bucket is full. */
  readonly windowMs: number;
  readonly #perMinute: number;
  readonly #keysMax: number;
  /** Buckets in the order of their last request. */
  readonly #buckets = new Map<string, Bucket>();

  constructor({ burst, perMinute, keysMax }: TokenBucketOptions) {
    this.requestsMax = burst;
    this.windowMs = Math.ceil((burst * token) / perMinute);
    this.#perMinute = perMinute;
    this.#keysMax = keysMax;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Admits and counts a request, or rejects it. */
  take(key: string, nowMs: number): RateVerdict {
    this.#removeFull(nowMs);
    const bucket = this.#bucketOf(key, nowMs);
    const isAllowed = bucket.parts >= token;
    if (isAllowed) bucket.parts -= token;
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#keysMax) this.#buckets.delete(this.#buckets.keys().next().value as string);
    return this.#verdict(isAllowed, bucket);
  }

  /** Checks a request against the limit without counting it. */
  look(key: string, nowMs: number): RateVerdict {
    const bucket = this.#bucketOf(key, nowMs);
    return this.#verdict(bucket.parts >= token, bucket);
  }

  #removeFull(nowMs: number): void {
    let removed = 0;
    for (const [key, { atMs }] of this.#buckets) {
      if (removed === removedAtOnce || nowMs - atMs < this.windowMs) return;
      this.#buckets.delete(key);
      removed++;
    }
  }

  #bucketOf(key: string, nowMs: number): Bucket {
    const bucket = this.#buckets.get(key) ?? { parts: this.requestsMax * token, atMs: nowMs };
    const passedMs = Math.max(0, nowMs - bucket.atMs);
    bucket.parts = Math.min(this.requestsMax * token, bucket.parts + passedMs * this.#perMinute);
    bucket.atMs = nowMs;
    return bucket;
  }

  /** The reset is when the next token is there. */
  #verdict(isAllowed: boolean, { parts }: Bucket): RateVerdict {
    const missing = parts >= token ? 0 : token - parts;
    return {
      isAllowed,
      remaining: Math.floor(parts / token),
      resetSeconds: Math.max(1, Math.ceil(missing / this.#perMinute / 1_000)),
    };
  }
}
