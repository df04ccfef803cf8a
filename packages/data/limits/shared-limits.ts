import { createHash } from 'node:crypto';
import type { Clock, Log } from '@octavo/core';
import type { RateVerdict } from '@octavo/core/auth';
import { runEvery } from '@octavo/core/concurrency';
import type { Database } from '../db/index.ts';
import { countedRequests, countRequest, type LimitTables, sweepCounts, uncountRequest } from './store.ts';

export interface SharedLimitsOptions {
  readonly database: Database<LimitTables>;
  readonly clock: Clock;
  readonly log: Log;
}

const sweepMs = 60_000;
/** Refused keys that a process remembers, per limit. */
const refusedMax = 100_000;

/**
 * Limits on requests that are counted in the database of a service, so that all its processes share them: for what protects accounts and
 * mailboxes. What protects a process is a `RateLimiter`, which asks no database. Disposing of it stops the deletion of old counts.
 */
export class SharedLimits implements AsyncDisposable {
  readonly #database: Database<LimitTables>;
  readonly #sweeping: AsyncDisposable;

  constructor({ database, clock, log }: SharedLimitsOptions) {
    this.#database = database;
    const sweep = () => sweepCounts(database, clock.now());
    this.#sweeping = runEvery(sweepMs, sweep, { log, failure: 'old counts of limits could not be deleted' });
  }

  /** The limit of that name, as a list for `limitSharedRequests`; an empty one if `requestsMax` is 0, which turns it off. */
  named(name: string, requestsMax: number, windowMs: number) {
    if (requestsMax === 0) return [];
    return [{ name, limiter: new SharedRateLimiter(this.#database, { name, requestsMax, windowMs }) }];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sweeping[Symbol.asyncDispose]();
  }
}

/**
 * A sliding log in the database, with the rules of `RateLimiter`: rejected requests do not count, and a rejected key is admitted exactly
 * when its oldest request leaves the window. A rejected key is remembered until then, so that its further requests cost no statement.
 */
export class SharedRateLimiter {
  readonly requestsMax: number;
  readonly windowMs: number;
  readonly #database: Database<LimitTables>;
  readonly #name: string;
  readonly #refusedUntilMs = new Map<string, number>();

  constructor(
    database: Database<LimitTables>,
    {
      name,
      requestsMax,
      windowMs,
    }: { readonly name: string; readonly requestsMax: number; readonly windowMs: number },
  ) {
    this.#database = database;
    this.#name = name;
    this.requestsMax = requestsMax;
    this.windowMs = windowMs;
  }

  /** Admits and counts a request, or rejects it. */
  async take(given: string, nowMs: number): Promise<RateVerdict> {
    const key = this.#keyOf(given);
    const untilMs = this.#refusedUntilMs.get(key);
    if (untilMs !== undefined && nowMs < untilMs) return this.#refused(untilMs, nowMs);
    this.#refusedUntilMs.delete(key);
    const { requestsMax, windowMs } = this;
    const counted = { key, nowMs, windowMs, requestsMax };
    // A count that a power failure takes away costs less than waiting for the disk at each request.
    const times = await this.#database.write((session) => countRequest(session, counted), {
      mayBeLost: true,
    });
    if (times) {
      const resetSeconds = secondsUntil(Math.min(...times) + windowMs, nowMs);
      return { isAllowed: true, remaining: requestsMax - times.length, resetSeconds };
    }
    const before = await countedRequests(this.#database, counted);
    const endMs = Math.min(nowMs, ...before) + windowMs;
    if (before.length >= requestsMax) this.#remember(key, endMs);
    return this.#refused(endMs, nowMs);
  }

  /** Undoes the count of a request that was admitted at a time. */
  async giveBack(given: string, timeMs: number): Promise<void> {
    const key = this.#keyOf(given);
    await this.#database.write((session) => uncountRequest(session, { key, timeMs }), { mayBeLost: true });
    this.#refusedUntilMs.delete(key);
  }

  #refused(untilMs: number, nowMs: number): RateVerdict {
    return { isAllowed: false, remaining: 0, resetSeconds: secondsUntil(untilMs, nowMs) };
  }

  #remember(key: string, untilMs: number): void {
    if (this.#refusedUntilMs.size >= refusedMax) this.#refusedUntilMs.clear();
    this.#refusedUntilMs.set(key, untilMs);
  }

  /** Addresses of clients and people are not stored as they are. */
  #keyOf(given: string): string {
    return createHash('sha256').update(`${this.#name}\n${given}`).digest('base64url');
  }
}

function secondsUntil(untilMs: number, nowMs: number): number {
  return Math.max(1, Math.ceil((untilMs - nowMs) / 1_000));
}
