import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@octavo/core';
import { Notifier } from '@octavo/core/concurrency';
import { codeOf, isRetryable } from '../../errors.ts';
import type { Emit, TurnAnswer, TurnEvent } from '../turn.ts';

/** The reason with which a turn is stopped, by a caller or because the last client has stopped waiting. */
const cancelled = new AppError('canceled', 'The turn was cancelled.');
/** Shown to those that saw the beginning of an answer whose process is gone. */
const interrupted = new AppError('unavailable', 'The answer was interrupted. Ask again.');
/** Interval at which a turn without waiters in this process looks for some in others. */
const recheckMs = 250;

export interface TurnControl {
  readonly emit: Emit;
  /** Aborts when the turn is to stop. */
  readonly signal: AbortSignal;
  readonly cancel: () => void;
  /** Forgets the events of a run that ended without an answer, before those of the next. */
  readonly restart: () => void;
}

/** Work of a turn. */
export interface TurnWork {
  answer(control: TurnControl): Promise<TurnAnswer>;
  /** Returns true if no process is waiting for it. The turn is then stopped. */
  hasNoWaiters(): Promise<boolean>;
}

/** A turn that a client waits for in this process, with all its events, so that late followers see it from the start. */
export class TurnStream {
  /** Fingerprint of the request, to tell another question under the same id. */
  readonly fingerprint: string;
  readonly answer: Promise<TurnAnswer>;
  readonly #work: TurnWork;
  #events: TurnEvent[] = [];
  readonly #stop = new AbortController();
  readonly #news = new Notifier();
  #hasEnded = false;
  #isLeft = false;
  #followers = 0;
  #leaving: NodeJS.Timeout | undefined;

  constructor(fingerprint: string, work: TurnWork) {
    this.fingerprint = fingerprint;
    this.#work = work;
    const { signal } = this.#stop;
    const emit = (event: TurnEvent) => this.#add(event);
    const [cancel, restart] = [() => this.cancel(), () => this.#restart()];
    this.answer = work.answer({ emit, signal, cancel, restart }).finally(() => {
      this.#hasEnded = true;
      this.#news.notify();
    });
    // Followers receive the error; there may be none.
    this.answer.catch(() => undefined);
  }

  /** True if it was stopped, or is about to be. */
  get isCancelled(): boolean {
    return this.#stop.signal.aborted || this.#isLeft;
  }

  /** Stops the turn. The text so far is its answer. */
  cancel(): void {
    if (!this.#hasEnded) this.#stop.abort(cancelled);
  }

  /**
   * Counts a client that waits for the answer. Call what it returns when the client goes: if no other waits for `graceMs`, the turn stops.
   */
  follow(graceMs = 0): () => void {
    this.#followers++;
    clearTimeout(this.#leaving);
    let isFollowing = true;
    return () => {
      if (!isFollowing) return;
      isFollowing = false;
      if (--this.#followers > 0 || this.#hasEnded) return;
      this.#leaving = setTimeout(() => void this.#leave(), graceMs).unref();
    };
  }

  /**
   * The events with their numbers from 1, those after `after`, until the turn ends; and undefined after each `pauseMs` without one. Ends
   * early when the signal aborts, and with an error event if the turn begins again after more than its start was passed on. Throws the
   * error that the turn failed with, unless that was among the events.
   */
  async *events(
    signal: AbortSignal,
    { after = 0, pauseMs }: { after?: number; pauseMs: number },
  ): AsyncGenerator<(TurnEvent & { id: number }) | undefined> {
    let [index, seen] = [after, this.#events];
    while (!signal.aborted) {
      if (seen !== this.#events) {
        if (index > 1) return yield { ...interruption(seen), id: index + 1 };
        [index, seen] = [0, this.#events];
      }
      const event = seen[index];
      if (event) yield { ...event, id: ++index };
      else if (this.#hasEnded) break;
      else if (!(await this.#news.wait(pauseMs, signal))) yield undefined;
    }
    const last = this.#events.at(-1)?.event;
    if (!signal.aborted && last !== 'done' && last !== 'error') await this.answer;
  }

  async #leave(): Promise<void> {
    while (this.#followers === 0 && !this.#hasEnded) {
      // New followers start a new turn while we check.
      this.#isLeft = true;
      if (await this.#work.hasNoWaiters().catch(() => true)) return this.cancel();
      this.#isLeft = false;
      await sleep(recheckMs, undefined, { ref: false });
    }
  }

  #add(event: TurnEvent): void {
    this.#events.push(event);
    this.#news.notify();
  }

  #restart(): void {
    this.#events = [];
    this.#news.notify();
  }
}

function interruption([start]: readonly TurnEvent[]): TurnEvent {
  const request_id = start?.event === 'start' ? start.data.request_id : '';
  const { message } = interrupted;
  return {
    event: 'error',
    data: { request_id, code: codeOf(interrupted), message, retryable: isRetryable(interrupted) },
  };
}
