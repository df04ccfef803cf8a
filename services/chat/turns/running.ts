import { AppError } from '#kit/errors.ts';
import type { Emit, TurnAnswer, TurnEvent } from './turn.ts';

/** The reason with which a turn is stopped, by a caller or because nobody waits for it anymore. */
export const cancelled = new AppError('canceled', 'The turn was cancelled.');

/** A turn that runs or has ended, with all that happened in it, so that whoever comes later sees it from the start. */
export class RunningTurn {
  /** What was asked, to tell another question under the same id. */
  readonly fingerprint: string;
  readonly answer: Promise<TurnAnswer>;
  endedAtMs: number | undefined;
  hasFailed = false;
  readonly #events: TurnEvent[] = [];
  readonly #stop = new AbortController();
  readonly #waiting = new Set<() => void>();
  #followers = 0;
  #leaving: NodeJS.Timeout | undefined;

  constructor(
    fingerprint: string,
    work: (emit: Emit, signal: AbortSignal) => Promise<TurnAnswer>,
    onEnd: (turn: RunningTurn) => void,
  ) {
    this.fingerprint = fingerprint;
    this.answer = work((event) => this.#add(event), this.#stop.signal).finally(() => {
      onEnd(this);
      this.#wake();
    });
    // Whoever waits for the answer gets the error; perhaps nobody does.
    this.answer.catch(() => {
      this.hasFailed = true;
    });
  }

  get isCancelled(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Stops it. What was written until then is its answer. */
  cancel(): void {
    if (this.endedAtMs === undefined) this.#stop.abort(cancelled);
  }

  /**
   * Counts whoever waits for the answer. Call what it returns when they go away: if nobody else waits for `graceMs`, the turn stops.
   */
  follow(graceMs = 0): () => void {
    this.#followers++;
    clearTimeout(this.#leaving);
    let isFollowing = true;
    return () => {
      if (!isFollowing) return;
      isFollowing = false;
      if (--this.#followers > 0 || this.endedAtMs !== undefined) return;
      this.#leaving = setTimeout(() => this.cancel(), graceMs).unref();
    };
  }

  /**
   * The events with their numbers from 1, those after `after`, until the turn ends; and undefined after each `pauseMs` without one. Ends
   * early when the signal aborts. Throws what the turn failed with, unless that was among the events.
   */
  async *events(
    signal: AbortSignal,
    { after = 0, pauseMs }: { after?: number; pauseMs: number },
  ): AsyncGenerator<(TurnEvent & { id: number }) | undefined> {
    for (let index = after; !signal.aborted; ) {
      const event = this.#events[index];
      if (event) yield { ...event, id: ++index };
      else if (this.endedAtMs !== undefined) break;
      else if (!(await this.#next(signal, pauseMs))) yield undefined;
    }
    const last = this.#events.at(-1)?.event;
    if (!signal.aborted && last !== 'done' && last !== 'error') await this.answer;
  }

  /** Resolves to false if nothing happened for that long. */
  async #next(signal: AbortSignal, pauseMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const wake = () => resolve(true);
    const timer = setTimeout(() => resolve(false), pauseMs).unref();
    this.#waiting.add(wake);
    signal.addEventListener('abort', wake, { once: true });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(wake);
      signal.removeEventListener('abort', wake);
    }
  }

  #add(event: TurnEvent): void {
    this.#events.push(event);
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
