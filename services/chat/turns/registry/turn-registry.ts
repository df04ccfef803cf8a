import { hash } from 'node:crypto';
import type { Log } from '@octavo/core';
import { AppError, notFound } from '@octavo/core';
import { Notifier, runEvery } from '@octavo/core/concurrency';
import { checkHasLibrary } from '../../library.ts';
import type { Owner } from '../../owner.ts';
import type { TurnParts } from '../answer-turn.ts';
import { requestStop, sweepTurns, type TurnKey } from '../store.ts';
import { type SessionTurn, sessionTurns, watchTurn } from '../store-parts.ts';
import type { TurnAnswer, TurnRequest } from '../turn.ts';
import { followEvents } from './follow-turn.ts';
import { TurnLimits } from './limits.ts';
import { TurnLeases } from './turn-leases.ts';
import { type TaskParts, TurnRunner } from './turn-runner.ts';
import { type TurnControl, TurnStream } from './turn-stream.ts';

const sweepMs = 60_000;

/** The client: its owner for sessions and documents, and its key for limits. */
export interface Client {
  readonly owner: Owner;
  readonly client: string;
}

export interface TurnRegistryOptions extends TurnParts {
  readonly log: Log;
  readonly generationsMax: number;
  /** Time for which a turn waits for others of its client. */
  readonly generationWaitMs?: number;
}

/**
 * The turns that clients wait for in this process. A turn runs once, however often, by whatever transport and in whatever process it is
 * asked for: the table of turns decides who runs it, and keeps its outcome.
 */
export class TurnRegistry implements AsyncDisposable {
  readonly parts: TurnParts;
  readonly #shared: TaskParts;
  readonly #turns = new Map<string, { turn: TurnStream; task: TurnRunner }>();
  readonly #sweeping: AsyncDisposable;

  constructor({ log, generationsMax, generationWaitMs: waitMs = 10_000, ...parts }: TurnRegistryOptions) {
    const { database, clock } = parts;
    this.parts = parts;
    const limits = new TurnLimits({ generationsMax, waitMs });
    this.#shared = { parts, limits, leases: new TurnLeases(database, clock), ends: new Notifier() };
    const sweep = () => sweepTurns(database, clock.now());
    this.#sweeping = runEvery(sweepMs, sweep, { log, failure: 'old turns could not be deleted' });
  }

  /** The turn of that id, which begins if there is none. Throws `conflict` if something else was asked under that id, and `forbidden` for a client without documents. */
  begin({ owner, client }: Client, request: TurnRequest): TurnStream {
    checkHasLibrary(this.parts.library, owner);
    const key = keyOf(owner, request.requestId);
    // The languages of a client are no part of what it asks.
    const fingerprint = hash('sha256', JSON.stringify({ ...request, preferred: undefined }));
    const known = this.#turns.get(key)?.turn;
    if (known && known.fingerprint !== fingerprint)
      throw new AppError('conflict', 'This request_id was used for another question.');
    if (known && !known.isCancelled) return known;
    const task = new TurnRunner(this.#shared, { owner, request, fingerprint }, client);
    const turn = new TurnStream(fingerprint, task);
    this.#turns.set(key, { turn, task });
    const forget = () => {
      if (this.#turns.get(key)?.turn === turn) this.#turns.delete(key);
    };
    turn.answer.then(forget, forget);
    return turn;
  }

  /** False if there is no such turn of that owner. One that has ended stays as it is. */
  async cancel(owner: Owner, requestId: string): Promise<boolean> {
    const here = this.#turns.get(keyOf(owner, requestId));
    const { database, clock } = this.parts;
    const isKnown = await requestStop(database, { owner, requestId }, clock.now());
    if (here && !here.task.runsInOtherProcess) here.turn.cancel();
    return isKnown || here !== undefined;
  }

  /** Turns of sessions that are under way, or have ended since `sinceMs`, in whatever process. */
  inSessions(sinceMs: number): Promise<SessionTurn[]> {
    return sessionTurns(this.parts.database, { nowMs: this.parts.clock.now(), sinceMs });
  }

  /** A turn in whatever process, for a client that does not keep it from being stopped. */
  watch({ owner, requestId, run, fingerprint }: SessionTurn): TurnStream {
    const here = this.#turns.get(keyOf(owner, requestId));
    if (here && !here.task.runsInOtherProcess) return here.turn;
    const answer = (control: TurnControl) => this.#watched({ owner, requestId }, run, control);
    return new TurnStream(fingerprint, { answer, hasNoWaiters: async () => true });
  }

  /** Stops all turns and saves their text so far. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sweeping[Symbol.asyncDispose]();
    const turns = [...this.#turns.values()].map(({ turn }) => turn);
    for (const turn of turns) turn.cancel();
    await Promise.allSettled(turns.map(({ answer }) => answer));
  }

  async #watched(key: TurnKey, run: string, control: TurnControl): Promise<TurnAnswer> {
    const { parts, ends } = this.#shared;
    const { database, clock } = parts;
    const state = await watchTurn(database, run, clock.now());
    const turn = state && { ...key, state, isWatchedOnly: true };
    const last = turn && (await followEvents({ database, clock, ends }, turn, control))?.at(-1);
    if (last?.event === 'done') return last.data;
    throw notFound('request', key.requestId);
  }
}

function keyOf(owner: Owner, requestId: string): string {
  return `${owner}\n${requestId}`;
}
