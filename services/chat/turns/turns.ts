import { hash } from 'node:crypto';
import { AppError } from '#kit/errors.ts';
import type { Owner } from '../owner.ts';
import { Leases } from './leases.ts';
import { TurnLimits } from './limits.ts';
import type { TurnParts } from './run.ts';
import { RunningTurn } from './running.ts';
import { requestStop, sweepTurns } from './store.ts';
import { type TaskParts, TurnTask } from './task.ts';
import type { TurnRequest } from './turn.ts';
import { WakeUps } from './wake-ups.ts';

const sweepMs = 60_000;

/** Who asks: whose sessions and documents count, and who is counted for limits. */
export interface Asker {
  readonly owner: Owner;
  readonly client: string;
}

export interface TurnsOptions extends TurnParts {
  readonly generationsMax: number;
  /** How long a turn waits for others of its client. */
  readonly generationWaitMs?: number;
}

/**
 * The turns that somebody waits for in this process. A turn runs once, however often, by whatever transport and in whatever process it is
 * asked for: the table of turns decides who runs it, and keeps its outcome.
 */
export class Turns implements AsyncDisposable {
  readonly parts: TurnParts;
  readonly #shared: TaskParts;
  readonly #turns = new Map<string, { turn: RunningTurn; task: TurnTask }>();
  readonly #sweeping: NodeJS.Timeout;

  constructor({ generationsMax, generationWaitMs: waitMs = 10_000, ...parts }: TurnsOptions) {
    const { database, clock } = parts;
    this.parts = parts;
    const limits = new TurnLimits({ generationsMax, waitMs });
    this.#shared = { parts, limits, leases: new Leases(database, clock), ends: new WakeUps() };
    const sweep = () => sweepTurns(database, clock.now()).catch(() => undefined);
    this.#sweeping = setInterval(sweep, sweepMs).unref();
  }

  /** The turn of that id, which begins if there is none. Throws `duplicate` if something else was asked under that id. */
  begin({ owner, client }: Asker, request: TurnRequest): RunningTurn {
    const key = keyOf(owner, request.requestId);
    const fingerprint = hash('sha256', JSON.stringify(request));
    const known = this.#turns.get(key)?.turn;
    if (known && known.fingerprint !== fingerprint)
      throw new AppError('conflict', 'Something else was asked with this request_id.');
    if (known && !known.isCancelled) return known;
    const task = new TurnTask(this.#shared, { owner, request, fingerprint }, client);
    const turn = new RunningTurn(fingerprint, task);
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
    if (here && !here.task.isElsewhere) here.turn.cancel();
    return isKnown || here !== undefined;
  }

  /** Stops all turns; what they have written is kept. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeping);
    const turns = [...this.#turns.values()].map(({ turn }) => turn);
    for (const turn of turns) turn.cancel();
    await Promise.allSettled(turns.map(({ answer }) => answer));
  }
}

function keyOf(owner: Owner, requestId: string): string {
  return `${owner}\n${requestId}`;
}
