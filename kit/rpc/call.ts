import { AppError } from '../errors.ts';
import { newId } from '../ids.ts';
import type { RpcContext } from './contract.ts';

/** What a call starts with, as its caller gave it. */
export interface CallStart {
  readonly requestId?: string;
  readonly traceparent?: string | (() => string);
  readonly timeoutMs?: number;
  /** Called once, with the way to end the call, when its handler first asks for the signal. */
  readonly onSignal?: (abort: (reason: AppError) => void) => void;
}

/**
 * The context of one call on the side of its handler. The signal, the id and the deadline are made when first looked at,
 * because most handlers never do.
 */
export class Call implements RpcContext {
  readonly #start: CallStart;
  readonly #startMs: number;
  #requestId: string | undefined;
  #controller: AbortController | undefined;
  #ended: AppError | undefined;

  constructor(start: CallStart) {
    this.#start = start;
    this.#startMs = start.timeoutMs === undefined ? 0 : Date.now();
  }

  get requestId(): string {
    this.#requestId ??= this.#start.requestId ?? newId();
    return this.#requestId;
  }

  get traceparent(): string | undefined {
    return textOf(this.#start.traceparent);
  }

  get deadlineMs(): number | undefined {
    const { timeoutMs } = this.#start;
    return timeoutMs === undefined ? undefined : this.#startMs + timeoutMs;
  }

  get signal(): AbortSignal {
    if (this.#controller) return this.#controller.signal;
    this.#controller = new AbortController();
    if (this.#ended) this.#controller.abort(this.#ended);
    else this.#start.onSignal?.((reason) => this.abort(reason));
    return this.#controller.signal;
  }

  /** Tells the handler that nobody waits any more. The first reason stays. */
  abort(reason: AppError): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.#controller?.abort(reason);
  }
}

/** A span as a text, which is made now where it was not yet. */
export function textOf(traceparent: CallStart['traceparent']): string | undefined {
  return typeof traceparent === 'function' ? traceparent() : traceparent;
}

/** The error of a call whose deadline passed. */
export function timedOut(method: string, timeoutMs: number): AppError {
  return late(`${method} did not answer within ${timeoutMs} ms`);
}

/** The error of a call that its caller gave up. */
export function canceled(method: string): AppError {
  return new AppError('canceled', `${method} was canceled`);
}

/** The error of a stream in which one side left the other waiting. */
export function streamTimedOut(
  method: string,
  what: 'sent nothing' | 'was not read',
  timeoutMs: number,
): AppError {
  return late(`the stream of ${method} ${what} for ${timeoutMs} ms`);
}

/** Which call it was is for the log alone. */
function late(what: string): AppError {
  return new AppError('timeout', 'the backend did not answer in time', { cause: new Error(what) });
}
