import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '@octavo/core';
import { until } from '@octavo/testing';

/** A service under load, through two of its replicas. */
export interface Workload {
  readonly service: string;
  readonly environment?: Environment;
  /** Commands of `octavo` that the last release runs first, such as `admin create polls alice`. */
  readonly commands?: readonly (readonly string[])[];
  /** Signs in, creates what the rounds need, and returns a round. */
  begin(url: string): Promise<Round>;
}

/** Writes at one replica, reads it at the other, and throws if a response is not what the contract promises. */
export type Round = (at: Replicas) => Promise<void>;

/** Addresses of two replicas; one and the same where there is only one. */
export interface Replicas {
  readonly one: string;
  readonly other: string;
}

const loops = 2;
const pauseMs = 50;
/** A busy machine sheds load, and says so; clients try again, but not for ever. */
const saysBusy = /The server is overloaded/;
const refusedMax = 20;

/** Rounds without an end, half of them in each direction. */
export class Traffic implements AsyncDisposable {
  /** Responses that broke a promise. */
  readonly failures: string[] = [];
  readonly #round: Round;
  readonly #over = new AbortController();
  readonly #loops: Promise<unknown>;
  readonly #underWay = new Map<string, number>();
  #urls: readonly [string, string];
  #completed = 0;
  #refused = 0;

  constructor(round: Round, url: string) {
    this.#round = round;
    this.#urls = [url, url];
    this.#loops = Promise.all(Array.from({ length: loops }, (_, index) => this.#loop(index % 2 === 0)));
  }

  /** Sends requests to these replicas only. Resolves when the others have responded to all they were sent. */
  async use(one: string, other: string): Promise<void> {
    this.#urls = [one, other];
    const isUsed = (url: string) => url === one || url === other;
    await until(() => [...this.#underWay].every(([url, count]) => isUsed(url) || count === 0));
  }

  /** Resolves after this many more rounds; throws at the first failure. */
  async rounds(count: number): Promise<void> {
    const end = this.#completed + count;
    while (this.failures.length === 0 && this.#completed < end) await delay(pauseMs);
    if (this.failures.length > 0) throw new Error(this.failures.join('\n'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#loops;
  }

  async #loop(isForward: boolean): Promise<void> {
    while (!this.#over.signal.aborted) {
      const [first, second] = this.#urls;
      const at = isForward ? { one: first, other: second } : { one: second, other: first };
      this.#count(at, 1);
      try {
        await this.#round(at);
        this.#completed++;
      } catch (error) {
        const { message, cause } = error as Error;
        if (saysBusy.test(message) && this.#refused++ < refusedMax) continue;
        this.failures.push(`written at ${at.one}, read at ${at.other}: ${message} ${cause ?? ''}`);
      } finally {
        this.#count(at, -1);
      }
      await delay(pauseMs);
    }
  }

  #count({ one, other }: Replicas, by: number): void {
    for (const url of new Set([one, other])) this.#underWay.set(url, (this.#underWay.get(url) ?? 0) + by);
  }
}
