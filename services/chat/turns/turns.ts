import { hash } from 'node:crypto';
import { AppError, notFound, toAppError } from '#kit/errors.ts';
import { codeOf, isRetryable } from '../errors.ts';
import type { Owner } from '../owner.ts';
import { findSession } from '../sessions/index.ts';
import { TurnLimits } from './limits.ts';
import { runTurn, type TurnParts } from './run.ts';
import { RunningTurn } from './running.ts';
import type { Emit, TurnAnswer, TurnRequest } from './turn.ts';

/** How long a request with the same id is the same turn. */
const keptMs = 10 * 60_000;
const keptMax = 2_000;

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

/** All turns of the last minutes. A turn runs once, however often and by whatever transport it is asked for. */
export class Turns implements AsyncDisposable {
  readonly parts: TurnParts;
  readonly #limits: TurnLimits;
  readonly #turns = new Map<string, RunningTurn>();

  constructor({ generationsMax, generationWaitMs: waitMs = 10_000, ...parts }: TurnsOptions) {
    this.parts = parts;
    this.#limits = new TurnLimits({ generationsMax, waitMs });
  }

  /** The turn of that id, which begins if there is none. Throws `duplicate` if something else was asked under that id. */
  begin(asker: Asker, request: TurnRequest): RunningTurn {
    this.#forgetOld();
    const key = keyOf(asker.owner, request.requestId);
    const fingerprint = fingerprintOf(request);
    const known = this.#turns.get(key);
    if (known && known.fingerprint !== fingerprint)
      throw new AppError('conflict', 'Something else was asked with this request_id.');
    if (known && !known.isCancelled) return known;
    const turn: RunningTurn = new RunningTurn(
      fingerprint,
      (emit, signal) => this.#run(asker, request, emit, signal),
      (ended) => {
        ended.endedAtMs = this.parts.clock.now();
      },
    );
    this.#turns.delete(key);
    this.#turns.set(key, turn);
    // What could not be answered may be asked again.
    turn.answer.catch(() => {
      if (this.#turns.get(key) === turn) this.#turns.delete(key);
    });
    return turn;
  }

  /** False if there is no such turn of that owner. One that has ended stays as it is. */
  cancel(owner: Owner, requestId: string): boolean {
    const turn = this.#turns.get(keyOf(owner, requestId));
    turn?.cancel();
    return turn !== undefined;
  }

  /** Stops all turns; what they have written is kept. */
  async [Symbol.asyncDispose](): Promise<void> {
    const turns = [...this.#turns.values()].filter(({ endedAtMs }) => endedAtMs === undefined);
    for (const turn of turns) turn.cancel();
    await Promise.allSettled(turns.map(({ answer }) => answer));
  }

  async #run(asker: Asker, request: TurnRequest, emit: Emit, signal: AbortSignal): Promise<TurnAnswer> {
    const { owner, client } = asker;
    const { sessionId } = request;
    const reach = { owner, nowMs: this.parts.clock.now() };
    if (sessionId !== undefined && !(await findSession(this.parts.database, reach, sessionId)))
      throw notFound('session', sessionId);
    let hasStarted = false;
    const passOn: Emit = (event) => {
      hasStarted = true;
      emit(event);
    };
    const run = () => runTurn(this.parts, request, { owner, emit: passOn, signal });
    try {
      return await this.#limits.inSession(
        sessionId,
        () => this.#limits.ofClient(client, run, signal),
        signal,
      );
    } catch (error) {
      const { message } = toAppError(error);
      const failure = { request_id: request.requestId, code: codeOf(error), message };
      if (hasStarted) emit({ event: 'error', data: { ...failure, retryable: isRetryable(error) } });
      throw error;
    }
  }

  #forgetOld(): void {
    const beforeMs = this.parts.clock.now() - keptMs;
    for (const [key, { endedAtMs }] of this.#turns) {
      const isOld = endedAtMs !== undefined && endedAtMs < beforeMs;
      if (isOld || (endedAtMs !== undefined && this.#turns.size > keptMax)) this.#turns.delete(key);
    }
  }
}

function keyOf(owner: Owner, requestId: string): string {
  return `${owner}\n${requestId}`;
}

function fingerprintOf(request: TurnRequest): string {
  return hash('sha256', JSON.stringify(request));
}
