import type { Clock } from '@octavo/core';
import { toAppError } from '@octavo/core';
import type { Notifier } from '@octavo/core/concurrency';
import type { Database } from '@octavo/data';
import { codeOf, isRetryable } from '../../errors.ts';
import type { Tables } from '../../tables.ts';
import { runTurn, type TurnParts } from '../answer-turn.ts';
import { abandonTurn, dropTurn, type TurnState } from '../store.ts';
import { type ClaimedTurn, claimTurn, startTurn, type TurnClaimRequest } from '../store-claims.ts';
import type { Emit, TurnAnswer, TurnEvent } from '../turn.ts';
import { followEvents, pollMs } from './follow-turn.ts';
import type { TurnLimits } from './limits.ts';
import type { TurnLeases } from './turn-leases.ts';
import { TurnPublisher } from './turn-publisher.ts';
import type { TurnControl, TurnWork } from './turn-stream.ts';

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
      if (claimed && 'claimedTurn' in claimed) return this.#answerClaimed(claimed.claimedTurn, control);
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

  async #answerClaimed(claimedTurn: ClaimedTurn, { emit, signal, cancel }: TurnControl): Promise<TurnAnswer> {
    const { parts, limits, leases, ends } = this.#shared;
    const { request, owner } = this.#asked;
    this.#run = claimedTurn.run;
    using publisher = new TurnPublisher(parts, { owner, requestId: request.requestId, run: claimedTurn.run });
    const watchedUntil = (untilMs: number) => publisher.watchedUntil(untilMs);
    using _lease = leases.hold(claimedTurn.run, { stop: cancel, watchedUntil });
    let hasStarted = false;
    const forward: Emit = (event) => {
      hasStarted = true;
      publisher.add(event);
      emit(event);
    };
    const run = () => runTurn(parts, request, { owner, emit: forward, signal, claimedTurn });
    try {
      try {
        await this.#untilFirst(claimedTurn, signal);
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
      await dropTurn(this.#database, claimedTurn.run).catch(() => undefined);
      throw error;
    } finally {
      ends.notify();
    }
  }

  /** Waits until no other turn of the session comes before this one. */
  async #untilFirst(claimedTurn: ClaimedTurn, signal: AbortSignal): Promise<void> {
    let isFirst = claimedTurn.status === 'running';
    while (!isFirst) {
      await this.#shared.ends.wait(pollMs, signal);
      signal.throwIfAborted();
      isFirst = await startTurn(this.#database, claimedTurn, this.#clock.now());
    }
  }

  async #follow(state: TurnState, control: TurnControl): Promise<readonly TurnEvent[] | undefined> {
    const { owner, request } = this.#asked;
    const { ends, parts } = this.#shared;
    this.runsInOtherProcess = true;
    try {
      const followed = { owner, requestId: request.requestId, state };
      return await followEvents({ database: parts.database, clock: parts.clock, ends }, followed, control);
    } finally {
      this.runsInOtherProcess = false;
    }
  }
}
