import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { CallOptions, MessageCodec } from '../contract.ts';
import { canceled, startDeadline, timedOut } from '../deadline.ts';
import { messageTooLarge } from '../envelope.ts';
import type { NoteCall } from '../metrics.ts';
import type { Attempt, Failure } from './attempt.ts';
import type { Endpoint } from './endpoint.ts';
import type { Endpoints } from './endpoints.ts';

/** One method as it is called over the network. */
export interface RemoteMethod {
  /** `testing.v1.TestService/Read` */
  readonly name: string;
  /** The bytes of a request; for a stream in an envelope. */
  readonly encode: (request: unknown) => Uint8Array;
  readonly responseType: MessageCodec;
  readonly isStream: boolean;
  readonly isIdempotent: boolean;
  readonly endpoints: Endpoints;
  /** Headers of every call. */
  readonly headers: Readonly<Record<string, string>>;
  readonly note: NoteCall;
  readonly log: Log;
  readonly streamIdleTimeoutMs: number;
  readonly messageBytesMax: number;
}

/** One call over the network: its deadline, its caller's signal, its attempts and its metrics. */
export class RemoteCall {
  readonly #method: RemoteMethod;
  readonly #options: CallOptions;
  readonly #startedMs = performance.now();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #onAbort: (() => void) | undefined;
  #error: AppError | undefined;
  #attempt: Pick<Attempt<unknown>, 'endpoint' | 'startedMs' | 'abort'> | undefined;
  #stopWaiting: ((error: AppError) => void) | undefined;

  constructor(method: RemoteMethod, options: CallOptions) {
    const { signal, timeoutMs } = options;
    this.#method = method;
    this.#options = options;
    if (timeoutMs !== undefined) {
      this.#timer = startDeadline(timeoutMs, () => this.#onTimeout(timedOut(method.name, timeoutMs)));
    }
    if (signal) {
      this.#onAbort = () => this.fail(canceled(method.name));
      signal.addEventListener('abort', this.#onAbort, { once: true });
      if (signal.aborted) this.#onAbort();
    }
  }

  /** Reason of an early end; `undefined` while it goes on. */
  get error(): AppError | undefined {
    return this.#error;
  }

  /**
   * Sends the request and returns the response. It retries, at another server if there is one, if that can help and is safe.
   * Throws an `AppError`, immediately if the call ends early: `unavailable` if nothing was done.
   */
  async send<T>(request: unknown, begin: (endpoint: Endpoint) => Attempt<T>): Promise<T> {
    const { endpoints } = this.#method;
    if (this.#error) throw this.#error;
    const body = this.#encode(request);
    const headers = this.#headers();
    let failed: Endpoint | undefined;
    for (let count = 1; ; count += 1) {
      const endpoint = endpoints.pick(failed) ?? (await this.#lookUp());
      if (this.#error) throw this.#error;
      const attempt = begin(endpoint);
      this.#attempt = attempt;
      this.#dispatch(attempt, body, headers);
      const { response, failure } = await attempt.outcome;
      if (!failure) return response;
      const delayMs = this.#retryDelayMs(failure, endpoint, count);
      if (delayMs === undefined) throw this.#errorOf(failure);
      if (delayMs > 0) await this.#whileOpen(wait(delayMs));
      failed = endpoint;
    }
  }

  /** Ends the call early, once; the attempt under way is given up. */
  fail(error: AppError): void {
    if (this.#error) return;
    this.#error = error;
    this.#stopWaiting?.(error);
    this.#attempt?.abort(error);
  }

  /** Clears timer and signal, and records the call. */
  end(code: AppError['code'] | 'ok'): void {
    clearTimeout(this.#timer);
    if (this.#onAbort) this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#method.note(code, this.#startedMs);
  }

  #encode(request: unknown): Uint8Array {
    const { name, encode, messageBytesMax, log } = this.#method;
    let bytes: Uint8Array;
    try {
      bytes = encode(request);
    } catch (error) {
      log.error({ err: error, method: name }, 'RPC request does not match its type');
      throw new AppError('internal', 'Something went wrong on our side.');
    }
    if (bytes.length > messageBytesMax) throw messageTooLarge(messageBytesMax);
    return bytes;
  }

  /** Headers of this call, for all its attempts. Throws `internal` for values that cannot be in a header. */
  #headers(): Headers {
    const { requestId = '', traceparent } = this.#options;
    const span = (typeof traceparent === 'function' ? traceparent() : traceparent) ?? '';
    if (notInHeaders.test(requestId + span)) throw new AppError('internal', 'a header is not plain text');
    return {
      ...this.#method.headers,
      'x-request-id': requestId || undefined,
      traceparent: span || undefined,
    };
  }

  #dispatch<T>(attempt: Attempt<T>, body: Uint8Array, ofCall: Headers): void {
    const { name, isStream } = this.#method;
    const { unary, streams, target } = attempt.endpoint;
    const headers = { ...ofCall, host: target.host, 'connect-timeout-ms': this.#timeoutHeader() };
    (isStream ? streams : unary).dispatch({ method: 'POST', path: `/${name}`, headers, body }, attempt);
  }

  /** The milliseconds that are left of the call. */
  #timeoutHeader(): string | undefined {
    const { timeoutMs } = this.#options;
    if (timeoutMs === undefined) return undefined;
    const leftMs = Math.ceil(timeoutMs - (performance.now() - this.#startedMs));
    return String(Math.min(Math.max(1, leftMs), timeoutHeaderMax));
  }

  async #lookUp(): Promise<Endpoint> {
    const { endpoints } = this.#method;
    let endpoint: Endpoint | undefined;
    while (!endpoint) {
      await this.#whileOpen(endpoints.lookUp());
      endpoint = endpoints.pick();
    }
    return endpoint;
  }

  /** Waits for this, but no longer than the call lasts. */
  #whileOpen(waiting: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#stopWaiting = reject;
      waiting.then(resolve, reject);
    });
  }

  /** A connection that broke after the request was sent does not tell whether a method with side effects was carried out. */
  #errorOf({ error, isUndone, isConnection }: Failure): AppError {
    if (isUndone || !isConnection || this.#method.isIdempotent) return error;
    return new AppError('timeout', 'the RPC server went away before it responded', { cause: error });
  }

  #onTimeout(error: AppError): void {
    this.#attempt?.endpoint.timedOut(this.#attempt.startedMs, error);
    this.fail(error);
  }

  /**
   * Returns the delay before another attempt, or `undefined` to give up. A method with side effects is only tried again if
   * nothing was done. There is no delay if there is another server, even one that failed a while ago. Otherwise there are two
   * more attempts, some 20 and 40 ms later, unless the server has been down for long or says itself when to come back.
   */
  #retryDelayMs(
    { error, isUndone, isConnection }: Failure,
    endpoint: Endpoint,
    count: number,
  ): number | undefined {
    const { endpoints, isIdempotent } = this.#method;
    if (error.code !== 'unavailable') return undefined;
    if (isUndone) {
      endpoint.failed(performance.now(), error);
      endpoints.suspect();
    } else if (!isIdempotent) {
      return undefined;
    }
    if (endpoints.hasOther(endpoint) && count <= endpoints.size) return 0;
    // Servers that failed a while ago may be back, as when they are restarted one after the other.
    if (isConnection && count < endpoints.size) return 0;
    if (count > 2 || endpoint.isLongDown(performance.now())) return undefined;
    if (!isConnection && error.retryAfterSeconds !== undefined) return undefined;
    return 20 * count * (0.5 + Math.random());
  }
}

type Headers = Readonly<Record<string, string | undefined>>;

const notInHeaders = /[^\x20-\x7e]/;
/** The protocol allows ten digits for the timeout. */
const timeoutHeaderMax = 9_999_999_999;
