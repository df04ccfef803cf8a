import type { Clock } from '#kit/base/clock.ts';
import { AppError, toAppError } from '#kit/base/errors.ts';
import type { Notifier } from '#kit/concurrency/notifier.ts';
import type { Database } from '#kit/db/index.ts';
import { codeOf, isRetryable } from '../../errors.ts';
import type { Tables } from '../../tables.ts';
import { runTurn, type TurnParts } from '../answer-turn.ts';
import { abandonTurn, dropTurn, followTurn, isHeld, type TurnState } from '../store.ts';
import { type ClaimedTurn, claimTurn, startTurn, type TurnClaimRequest } from '../store-claims.ts';
import type { Emit, TurnAnswer, TurnEvent } from '../turn.ts';
import type { TurnLimits } from './limits.ts';
import type { TurnLeases } from './turn-leases.ts';
import type { TurnControl, TurnWork } from './turn-stream.ts';

/** Polling interval for a turn of another process. */
const pollMs = 250;

/** Dependencies shared by the turns of a process. */
export interface TaskParts {
  readonly parts: TurnParts;
  readonly limits: TurnLimits;
  readonly leases: TurnLeases;
  /** Called whenever a turn of this process has ended. */
  readonly ends: Notifier;
}

/** Runs a turn in this process, or waits for the outcome if another process does or did. */
export class TurnRunner implements TurnWork {
  /** True if another process runs it, so that only a request can stop it. */
  runsInOtherProcess = false;
  readonly #shared: TaskParts;
  readonly #asked: TurnClaimRequest;
  readonly #client: string;
  #run: string | undefined;

  constructor(shared: TaskParts, asked: TurnClaimRequest, client: string) {
    this.#shared = shared;
    this.#asked = asked;
    this.#client = client;
  }

  async answer(control: TurnControl): Promise<TurnAnswer> {
    for (;;) {
      const claimed = await claimTurn(this.#database, this.#asked, this.#clock.now());
      if (claimed && 'own' in claimed) return this.#answerOwn(claimed.own, control);
      const events = claimed && (await this.#follow(claimed.other, control));
      const last = events?.at(-1);
      if (last?.event === 'done') return last.data;
    }
  }

  /** Returns true if no other process waits for it, and marks it as one that stops. */
  async hasNoWaiters(): Promise<boolean> {
    if (this.#run === undefined || this.runsInOtherProcess) return true;
    return abandonTurn(this.#database, this.#run, this.#clock.now());
  }

  get #database(): Database<Tables> {
    return this.#shared.parts.database;
  }

  get #clock(): Clock {
    return this.#shared.parts.clock;
  }

  async #answerOwn(own: ClaimedTurn, { emit, signal, cancel }: TurnControl): Promise<TurnAnswer> {
    const { parts, limits, leases, ends } = this.#shared;
    const { request, owner } = this.#asked;
    this.#run = own.run;
    using _lease = leases.hold(own.run, cancel);
    let hasStarted = false;
    const forward: Emit = (event) => {
      hasStarted = true;
      emit(event);
    };
    const run = () => runTurn(parts, request, { owner, emit: forward, signal, own });
    try {
      try {
        await this.#untilFirst(own, signal);
        return await limits.runLimited(this.#client, run, signal);
      } catch (error) {
        // One that is cancelled while it waits is kept as well, without a word of an answer.
        if (signal.aborted && !hasStarted) return await run();
        throw error;
      }
    } catch (error) {
      const { message } = toAppError(error);
      const failure = { request_id: request.requestId, code: codeOf(error), message };
      if (hasStarted) emit({ event: 'error', data: { ...failure, retryable: isRetryable(error) } });
      await dropTurn(this.#database, own.run).catch(() => undefined);
      throw error;
    } finally {
      ends.notify();
    }
  }

  /** Waits until no other turn of the session comes before this one. */
  async #untilFirst(own: ClaimedTurn, signal: AbortSignal): Promise<void> {
    let isFirst = own.status === 'running';
    while (!isFirst) {
      await this.#shared.ends.wait(pollMs, signal);
      signal.throwIfAborted();
      isFirst = await startTurn(this.#database, own, this.#clock.now());
    }
  }

  /**
   * Everything that happened in a turn that another process runs or has run, once it has ended. Undefined if it has to be run again:
   * because that process has died or was stopped, or because the turn failed.
   */
  async #follow(other: TurnState, { emit, signal }: TurnControl): Promise<readonly TurnEvent[] | undefined> {
    const { run } = other;
    // A repeated question after a cancellation gets a new answer.
    const isLate = other.isStopping;
    let isBegun = false;
    let state: TurnState | undefined = other;
    this.runsInOtherProcess = true;
    try {
      while (state && isHeld(state, this.#clock.now())) {
        state = await followTurn(this.#database, run, { nowMs: this.#clock.now() });
        if (!state || !isHeld(state, this.#clock.now())) break;
        if (state.status === 'running' && !isBegun && !isLate) {
          isBegun = true;
          emit({ event: 'start', data: this.#idsOf(state) });
        }
        await this.#shared.ends.wait(pollMs, signal);
        if (signal.aborted) await this.#stopFollowing(run);
      }
    } finally {
      this.runsInOtherProcess = false;
    }
    if (!state?.events || (state.status === 'cancelled' && (isLate || !state.isStopping))) return undefined;
    for (const event of state.events.slice(isBegun ? 1 : 0)) emit(event);
    return state.events;
  }

  /** Throws, because the process ends or nobody waits here anymore. */
  async #stopFollowing(run: string): Promise<never> {
    await followTurn(this.#database, run, { nowMs: this.#clock.now(), forMs: 2 * pollMs });
    throw new AppError('unavailable', 'The service is shutting down. Try again.', { retryAfterSeconds: 1 });
  }

  #idsOf({ run, session }: TurnState) {
    const { requestId } = this.#asked.request;
    return { request_id: requestId, session_id: session ?? '', message_id: run };
  }
}
