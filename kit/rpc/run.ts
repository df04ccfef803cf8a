import { setImmediate } from 'node:timers/promises';
import { AppError, toAppError } from '../errors.ts';
import type { Log } from '../log.ts';
import { Call, type CallStart, canceled, streamTimedOut, timedOut } from './call.ts';
import type { RpcContext } from './contract.ts';
import { Deadline } from './deadline.ts';

/** One method with the function that serves it. */
export interface ServedMethod {
  /** `testing.v1.TestService/Read` */
  readonly name: string;
  readonly handler: (request: unknown, context: RpcContext) => unknown;
  /** Where a handler's unexpected errors are told; the caller only sees `internal`. */
  readonly log: Pick<Log, 'error'>;
  /** How long either side of a stream may wait for the other. */
  readonly streamIdleTimeoutMs: number;
}

/** How a call ends before its handler does. */
export interface RunStart extends CallStart {
  readonly signal?: AbortSignal;
}

/**
 * Runs a unary handler until it answers, the deadline passes or the signal aborts, whichever is first.
 * Both transports serve with it, so that they behave alike.
 */
export function runUnary(method: ServedMethod, request: unknown, start: RunStart): Promise<unknown> {
  return new Promise((resolve, reject) => {
    if (start.signal?.aborted) return reject(canceled(method.name));
    const call = new Call(start);
    const release = stopWhen(method, start, (error) => {
      call.abort(error);
      reject(error);
    });
    answer(method, request, call).then(
      (response) => {
        release();
        resolve(response);
      },
      (error: unknown) => {
        release();
        reject(hideForeign(error, method, call.requestId));
      },
    );
  });
}

/**
 * Runs a streaming handler as {@link runUnary} runs a unary one. Besides, it fails as `timeout` when the handler leaves
 * its caller, or the caller leaves the handler, waiting too long for the next step.
 */
export async function* runStream(
  method: ServedMethod,
  request: unknown,
  start: RunStart,
): AsyncGenerator<unknown, void, undefined> {
  if (start.signal?.aborted) throw canceled(method.name);
  const call = new Call(start);
  const stream = new RunningStream(method, start, call);
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
    throw hideForeign(error, method, call.requestId);
  } finally {
    stream.close();
  }
}

/** What a handler answers, also one that throws before it has a promise. */
function answer(method: ServedMethod, request: unknown, call: Call): Promise<unknown> {
  try {
    return Promise.resolve(method.handler(request, call));
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Arms the deadline and the signal of a call; gives the function that disarms them. */
function stopWhen(method: ServedMethod, start: RunStart, stop: (error: AppError) => void): () => void {
  const { signal, timeoutMs } = start;
  const deadline =
    timeoutMs === undefined
      ? undefined
      : new Deadline(timeoutMs, () => stop(timedOut(method.name, timeoutMs)));
  const onAbort = signal && (() => stop(canceled(method.name)));
  if (onAbort) signal.addEventListener('abort', onAbort, { once: true });
  return () => {
    deadline?.callOff();
    if (onAbort) signal.removeEventListener('abort', onAbort);
  };
}

/** A handler that has everything at hand would keep all else from running: so the event loop gets its turn. */
const turnMsMax = 10;

/** A handler's stream, stopped from outside even while the handler hangs or its caller looks away. */
class RunningStream {
  readonly #method: ServedMethod;
  readonly #call: Call;
  readonly #release: () => void;
  readonly #idle: NodeJS.Timeout;
  #messages: AsyncIterator<unknown> | undefined;
  #stopped: AppError | undefined;
  #rejectNext: ((error: AppError) => void) | undefined;

  constructor(method: ServedMethod, start: RunStart, call: Call) {
    this.#method = method;
    this.#call = call;
    this.#release = stopWhen(method, start, (error) => this.#stop(error));
    this.#idle = setTimeout(() => this.#onIdle(), method.streamIdleTimeoutMs);
  }

  open(request: unknown): void {
    const messages = this.#method.handler(request, this.#call) as AsyncIterable<unknown>;
    this.#messages = messages[Symbol.asyncIterator]();
  }

  next(): Promise<IteratorResult<unknown>> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) return reject(this.#stopped);
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
    this.#release();
    clearTimeout(this.#idle);
    this.#stop(canceled(this.#method.name));
  }

  #stop(error: AppError): void {
    if (this.#stopped) return;
    this.#stopped = error;
    this.#call.abort(error);
    this.#rejectNext?.(error);
    void this.#endMessages();
  }

  async #endMessages(): Promise<void> {
    try {
      await this.#messages?.return?.();
    } catch (error) {
      hideForeign(error, this.#method, this.#call.requestId);
    }
  }

  #onIdle(): void {
    const { name, streamIdleTimeoutMs } = this.#method;
    this.#stop(streamTimedOut(name, this.#rejectNext ? 'sent nothing' : 'was not read', streamIdleTimeoutMs));
  }
}

/** What a handler threw, as its caller may see it; what the caller must not see is logged instead. */
export function hideForeign(error: unknown, method: ServedMethod, requestId: string): AppError {
  const hides = !(error instanceof AppError) || (error.code === 'internal' && error.cause !== undefined);
  if (!hides) return error;
  method.log.error({ err: error, method: method.name, requestId }, 'RPC handler failed');
  return new AppError('internal', error instanceof AppError ? error.message : toAppError(error).message);
}
