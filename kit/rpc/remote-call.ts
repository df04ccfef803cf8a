import { AppError } from '../errors.ts';
import { connectionFailure, type Failure, retryDelayMs } from './attempt.ts';
import { canceled, textOf, timedOut } from './call.ts';
import type { AnswerControl, AnswerHandler } from './connection.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { CallOptions } from './contract.ts';
import { timerMsMax } from './deadline.ts';
import type { Endpoint } from './endpoint.ts';
import { messageTooLarge } from './envelope.ts';
import type { RemoteMethod } from './remote.ts';
import { fromWire } from './wire-error.ts';

/** One call over the network: its attempts, its deadline, its end. What the answer looks like is for the kinds of calls. */
export abstract class RemoteCall implements AnswerHandler {
  protected readonly method: RemoteMethod;
  /** Of the attempt under way, from its request's writing to its answer's end. */
  protected control: AnswerControl | undefined;
  readonly #options: CallOptions;
  readonly #startedMs: number;
  readonly #onAbort: (() => void) | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #body: Uint8Array = noBytes;
  #traceparent = '';
  #endpoint: Endpoint | undefined;
  #attempt = 0;
  #attemptMs = 0;
  #isSent = false;
  #hasEnded = false;
  /** The status of an answer that is an error, while it comes in; else 0. */
  #errorStatus = 0;
  #errorBody = '';
  #retryAfter: string | undefined;

  constructor(method: RemoteMethod, options: CallOptions) {
    this.method = method;
    this.#options = options;
    this.#startedMs = performance.now();
    const { signal, timeoutMs } = options;
    if (timeoutMs !== undefined) {
      this.#timer = setTimeout(() => this.#onTimeout(timeoutMs), Math.min(timeoutMs, timerMsMax));
    }
    if (signal) {
      this.#onAbort = () => this.fail(canceled(method.name));
      signal.addEventListener('abort', this.#onAbort, { once: true });
    }
  }

  protected abstract readonly contentType: string;
  /** The connections of a server that it goes by. */
  protected abstract poolOf(endpoint: Endpoint): ConnectionPool;
  /** A piece of a good answer; the last holds until `onEnd` has returned, others until this does. */
  protected abstract onData(chunk: Buffer, isLast: boolean): void;
  /** A good answer's end. */
  protected abstract onEnd(): void;
  /** The call has failed for good. */
  protected abstract onFailure(error: AppError): void;

  /** Whether part of the answer was seen already, so that the call cannot be tried again. */
  protected get hasBegun(): boolean {
    return false;
  }

  /** Sends the request, now or when a server is known. */
  protected begin(request: unknown): void {
    try {
      this.#body = this.#write(request);
      this.#try();
    } catch (error) {
      this.fail(error as AppError);
    }
  }

  /** Ends the call as failed, once; whatever the server still does for it is stopped. */
  protected fail(error: AppError): void {
    if (!this.finish(error.code)) return;
    this.control?.abort();
    this.onFailure(error);
  }

  /** Ends the call; false where it had ended. */
  protected finish(code: AppError['code'] | 'ok'): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    if (this.#onAbort) this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.method.note(code, this.#startedMs);
    return true;
  }

  #write(request: unknown): Uint8Array {
    const { name, messageBytesMax } = this.method;
    if (this.#options.signal?.aborted) throw canceled(name);
    const { requestId = '', traceparent } = this.#options;
    this.#traceparent = textOf(traceparent) ?? '';
    if (notInHeaders.test(requestId + this.#traceparent))
      throw new AppError('internal', 'a header is not plain text');
    const bytes = writeRequest(this.method, request);
    if (bytes.length > messageBytesMax) throw messageTooLarge(messageBytesMax);
    return bytes;
  }

  #onTimeout(timeoutMs: number): void {
    const error = timedOut(this.method.name, timeoutMs);
    if (!this.#hasEnded) this.#endpoint?.timedOut(this.#attemptMs, error);
    this.fail(error);
  }

  #tryAgain(): void {
    try {
      this.#try();
    } catch (error) {
      this.fail(error as AppError);
    }
  }

  #try(): void {
    if (this.#hasEnded) return;
    const { endpoints } = this.method;
    const endpoint = endpoints.pick(this.#endpoint);
    if (!endpoint) {
      endpoints.lookUp().then(
        () => this.#tryAgain(),
        (error: AppError) => this.fail(error),
      );
      return;
    }
    this.#endpoint = endpoint;
    this.#attempt += 1;
    this.#attemptMs = performance.now();
    this.#isSent = false;
    this.#errorStatus = 0;
    this.#errorBody = '';
    this.poolOf(endpoint).dispatch({ head: this.#head(endpoint), body: this.#body }, this);
  }

  #head(endpoint: Endpoint): string {
    const { name, headerLines } = this.method;
    const { requestId, timeoutMs } = this.#options;
    let head = `POST /${name} HTTP/1.1\r\nhost: ${endpoint.target.host}\r\n${headerLines}`;
    if (timeoutMs !== undefined) {
      const leftMs = this.#attempt === 1 ? timeoutMs : timeoutMs - (performance.now() - this.#startedMs);
      head += `connect-timeout-ms: ${Math.min(Math.max(1, Math.ceil(leftMs)), timeoutMsMax)}\r\n`;
    }
    if (requestId) head += `x-request-id: ${requestId}\r\n`;
    if (this.#traceparent) head += `traceparent: ${this.#traceparent}\r\n`;
    return `${head}content-length: ${this.#body.length}\r\n\r\n`;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  onRequestStart(control: AnswerControl): void {
    this.control = control;
    this.#isSent = true;
  }

  onResponseStart(status: number, headers: Readonly<Record<string, string>>): void {
    const contentType = String(headers['content-type']);
    if (status !== 200) {
      this.#errorStatus = status;
      this.#retryAfter = headers['retry-after'];
    } else if (contentType.startsWith(this.contentType)) {
      this.#endpoint?.answered();
      if (headers.connection === 'close') this.#endpoint?.leaves(performance.now());
    } else {
      const message = `the RPC server answered ${contentType}, not ${this.contentType}`;
      this.fail(new AppError('internal', message));
    }
  }

  onResponseData(chunk: Buffer, isLast: boolean): void {
    if (this.#hasEnded) return;
    if (!this.#errorStatus) this.onData(chunk, isLast);
    else if (this.#errorBody.length < errorCharactersMax) this.#errorBody += chunk.toString('latin1');
  }

  onResponseEnd(): void {
    // Its connection may be another call's by now.
    this.control = undefined;
    if (this.#hasEnded) return;
    if (this.#errorStatus) this.#onErrorEnd(this.#errorStatus);
    else this.onEnd();
  }

  onResponseError(cause: Error): void {
    this.failAttempt(connectionFailure(cause, this.#isSent));
  }

  #onErrorEnd(status: number): void {
    const body = parseJson(Buffer.from(this.#errorBody, 'latin1').toString());
    const { error, isRefusal } = fromWire(body, status, this.#retryAfter);
    if (!isRefusal || error.code !== 'unavailable') this.#endpoint?.answered();
    this.failAttempt({ error, isUndone: isRefusal, isConnection: false });
  }

  /** Tries again where that makes sense and is safe. */
  protected failAttempt(failure: Failure): void {
    const endpoint = this.#endpoint;
    if (this.#hasEnded || !endpoint) return;
    const { endpoints, isIdempotent } = this.method;
    if (failure.isUndone && failure.error.code === 'unavailable') {
      endpoint.failed(performance.now(), failure.error);
      endpoints.suspect();
    }
    const attempted = { failure, attempt: this.#attempt, isIdempotent, endpoint, endpoints };
    const delayMs = this.hasBegun ? undefined : retryDelayMs(attempted);
    this.control = undefined;
    if (delayMs === undefined) this.fail(failure.error);
    else if (delayMs === 0) this.#tryAgain();
    else setTimeout(() => this.#tryAgain(), delayMs);
  }
}

const notInHeaders = /[^\x20-\x7e]/;
const noBytes = new Uint8Array(0);
/** The protocol has ten digits for it. */
const timeoutMsMax = 9_999_999_999;
const errorCharactersMax = 256 * 1024;

function writeRequest({ name, log, write }: RemoteMethod, request: unknown): Uint8Array {
  try {
    return write(request);
  } catch (error) {
    log.error({ err: error, method: name }, 'RPC request does not fit its type');
    throw new AppError('internal', 'Something went wrong on our side.');
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
