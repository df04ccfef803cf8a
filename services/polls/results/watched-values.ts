import type { Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import { Notifier } from '@octavo/core/concurrency';
import { Gauge, type Registry } from 'prom-client';

export interface WatchedValuesOptions<V> {
  /** The values of keys that are watched. A key without a value is gone. */
  read(keys: readonly number[]): Promise<ReadonlyMap<number, V>>;
  /** Interval at which values are read while they are watched. */
  readonly everyMs: number;
  readonly watchersMax: number;
  /** Registry and name of the gauge that counts the watchers. */
  readonly metrics: Registry;
  readonly gauge: string;
  readonly log: Log;
}

interface Watched<V> {
  watchers: number;
  /** Undefined until it was read for the first time, null if it is gone. */
  value: V | null | undefined;
  /** The value as JSON, to see whether it changed. */
  json: string;
  /** Wakes the watchers. */
  readonly changes: Notifier;
}

/** Longest time without a message to a watcher. */
const silentMs = 15_000;

/**
 * Values that many watch, such as the counts of votes. One `read` serves all watchers of all keys, and only while there are any; so
 * they also see what other processes wrote.
 */
export class WatchedValues<V> implements Disposable {
  readonly #options: WatchedValuesOptions<V>;
  readonly #watched = new Map<number, Watched<V>>();
  #timer: NodeJS.Timeout | undefined;
  #watchers = 0;
  #isOver = false;

  constructor(options: WatchedValuesOptions<V>) {
    this.#options = options;
    const watchers = () => this.#watchers;
    new Gauge({
      name: options.gauge,
      help: 'Watchers of live values',
      registers: [options.metrics],
      collect() {
        this.set(watchers());
      },
    });
  }

  /**
   * The value of a key now and after each change; `undefined` after 15 seconds without one, so that connections stay open. It ends
   * when the key is gone, and when this is disposed of. Throws `unavailable` if there are too many watchers.
   */
  async *watch(key: number): AsyncGenerator<V | undefined, void, undefined> {
    const watched = this.#enter(key);
    try {
      let shown: string | undefined;
      while (!this.#isOver) {
        const { value, json, changes } = watched;
        if (value === null) return;
        if (value !== undefined && json !== shown) {
          shown = json;
          yield value;
        } else if (!(await changes.wait(silentMs)) && shown !== undefined) {
          yield undefined;
        }
      }
    } finally {
      this.#leave(key, watched);
    }
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    for (const { changes } of this.#watched.values()) changes.notify();
  }

  #enter(key: number): Watched<V> {
    if (this.#watchers >= this.#options.watchersMax)
      throw new AppError('unavailable', 'Too many people are watching.');
    const watched = this.#watched.get(key) ?? {
      watchers: 0,
      value: undefined,
      json: '',
      changes: new Notifier(),
    };
    this.#watched.set(key, watched);
    watched.watchers++;
    this.#watchers++;
    this.#timer ??= setTimeout(() => this.#read(), 0);
    return watched;
  }

  #leave(key: number, watched: Watched<V>): void {
    this.#watchers--;
    watched.watchers--;
    if (watched.watchers === 0) this.#watched.delete(key);
  }

  async #read(): Promise<void> {
    const { read, log, everyMs } = this.#options;
    try {
      await this.#readWith(read);
    } catch (error) {
      log.warn({ err: error }, 'live values could not be read');
    }
    const isWatched = this.#watchers > 0 && !this.#isOver;
    this.#timer = isWatched ? setTimeout(() => this.#read(), everyMs) : undefined;
  }

  async #readWith(read: WatchedValuesOptions<V>['read']): Promise<void> {
    const asked = [...this.#watched];
    const values = await read(asked.map(([key]) => key));
    for (const [key, watched] of asked) {
      const value = values.get(key) ?? null;
      const json = JSON.stringify(value);
      if (json === watched.json) continue;
      watched.value = value;
      watched.json = json;
      watched.changes.notify();
    }
  }
}
