import { setImmediate } from 'node:timers/promises';
import type { Log } from '@octavo/core';
import { AppError, newId, toAppError } from '@octavo/core';
import type { CallOptions, RpcContext } from '../contract.ts';
import { canceled, startDeadline, streamTimedOut, timedOut } from '../deadline.ts';

/** One method with the function that serves it. */
export interface ServedMethod {
  /** `testing.v1.TestService/Read` */
  readonly name: string;
  readonly handler: (request: unknown, context: RpcContext) => unknown;
  /** Log of unexpected errors of the handler; the caller only sees `internal`. */
  readonly log: Pick<Log, 'error'>;
  /** Longest time that either side of a stream may wait for the other. */
  readonly streamIdleTimeoutMs: number;
}

/**
 * Runs a unary handler until it responds, the deadline passes or the signal aborts, whichever comes first.
 * Both transports serve with it, so that they behave alike. Throws an `AppError` that is safe to show to the caller.
 */
export function runUnary(method: ServedMethod, request: unknown, options: CallOptions): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (options.signal?.aborted) return reject(canceled(method.name));
    const call = new RpcCall(method, options, reject);
    Promise.try(method.handler, request, call).then(
      (response) => {
        call.end();
        resolve(response);
      },
      (error: unknown) => {
        call.end();
        reject(maskInternalError(error, method, call.requestId));
      },
    );
  });
}

/**
 * Runs a streaming handler as {@link runUnary} runs a unary one. It also fails as `timeout` when the handler leaves its
 * caller, or the caller leaves the handler, waiting too long for the next step; `onUnread` is called in the second case.
 */
export async function* runStream(
  method: ServedMethod,
  request: unknown,
  options: CallOptions,
  onUnread?: () => void,
): AsyncGenerator<unknown, void, undefined> {
  if (options.signal?.aborted) throw canceled(method.name);
  const stream = new ServedStream(method, options, onUnread);
  try {
    stream.open(request);
    for (let turnMs = performance.now(); ; ) {
      const step = await stream.next();
      if (step.done) return;
      yield step.value;
      if (performance.now() - turnMs < turnMsMax) continue;
      await setImmediate();
      turnMs = performance.now();
    }
  } catch (error) {
    throw maskInternalError(error, method, stream.requestId);
  } finally {
    stream.close();
  }
}

/** Returns the error of a handler as its caller may see it, and logs anything else. */
export function maskInternalError(error: unknown, method: ServedMethod, requestId: string): AppError {
  const hides = !(error instanceof AppError) || (error.code === 'internal' && error.cause !== undefined);
  if (!hides) return error;
  method.log.error({ err: error, method: method.name, requestId }, 'RPC handler failed');
  return new AppError('internal', error instanceof AppError ? error.message : toAppError(error).message);
}

/** A handler whose data is all in memory would never let go of the event loop, so it pauses after this long. */
const turnMsMax = 10;

/** A call while its handler runs: the handler's context, and what stops it early. */
class RpcCall implements RpcContext {
  readonly requestId: string;
  readonly deadlineMs: number | undefined;
  readonly #options: CallOptions;
  readonly #onStop: (error: AppError) => void;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #onAbort: (() => void) | undefined;

  constructor({ name }: ServedMethod, options: CallOptions, onStop: (error: AppError) => void) {
    const { signal, timeoutMs } = options;
    this.#options = options;
    this.#onStop = onStop;
    this.requestId = options.requestId ?? newId();
    if (timeoutMs !== undefined) {
      this.deadlineMs = Date.now() + timeoutMs;
      this.#timer = startDeadline(timeoutMs, () => this.stop(timedOut(name, timeoutMs)));
    }
    if (signal) {
      this.#onAbort = () => this.stop(canceled(name));
      signal.addEventListener('abort', this.#onAbort, { once: true });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get traceparent(): string | undefined {
    const { traceparent } = this.#options;
    return typeof traceparent === 'function' ? traceparent() : traceparent;
  }

  /** Aborts the handler once; the first reason stays. */
  stop(error: AppError): void {
    if (this.signal.aborted) return;
    this.end();
    this.#controller.abort(error);
    this.#onStop(error);
  }

  /** Clears what would stop it, because it is over. */
  end(): void {
    clearTimeout(this.#timer);
    if (this.#onAbort) this.#options.signal?.removeEventListener('abort', this.#onAbort);
  }
}

const cutDelayMs = 1_000;

/** A streaming handler that can be stopped even while it hangs or its caller does not read. */
class ServedStream {
  readonly #method: ServedMethod;
  readonly #call: RpcCall;
  readonly #onUnread: (() => void) | undefined;
  readonly #idle: NodeJS.Timeout;
  #messages: AsyncIterator<unknown> | undefined;
  #rejectNext: ((error: AppError) => void) | undefined;

  constructor(method: ServedMethod, options: CallOptions, onUnread: (() => void) | undefined) {
    this.#method = method;
    this.#onUnread = onUnread;
    this.#call = new RpcCall(method, options, (error) => {
      this.#rejectNext?.(error);
      void this.#endMessages();
    });
    this.#idle = setTimeout(() => this.#onIdle(), method.streamIdleTimeoutMs);
  }

  get requestId(): string {
    return this.#call.requestId;
  }

  open(request: unknown): void {
    const messages = this.#method.handler(request, this.#call) as AsyncIterable<unknown>;
    this.#messages = messages[Symbol.asyncIterator]();
  }

  next(): Promise<IteratorResult<unknown>> {
    return new Promise((resolve, reject) => {
      if (this.#call.signal.aborted) return reject(this.#call.signal.reason);
      this.#rejectNext = reject;
      this.#idle.refresh();
      this.#messages?.next().then((step) => {
        this.#rejectNext = undefined;
        this.#idle.refresh();
        resolve(step);
      }, reject);
    });
  }

  close(): void {
    clearTimeout(this.#idle);
    this.#call.stop(canceled(this.#method.name));
  }

  async #endMessages(): Promise<void> {
    try {
      await this.#messages?.return?.();
    } catch (error) {
      maskInternalError(error, this.#method, this.requestId);
    }
  }

  #onIdle(): void {
    const { name, streamIdleTimeoutMs } = this.#method;
    const isRead = this.#rejectNext !== undefined;
    this.#call.stop(streamTimedOut(name, isRead ? 'sent nothing' : 'was not read', streamIdleTimeoutMs));
    // A client that reads again at this moment still gets the `timeout`, not a broken connection.
    if (!isRead && this.#onUnread) setTimeout(this.#onUnread, cutDelayMs).unref();
  }
}
