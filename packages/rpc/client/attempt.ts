import { AppError } from '@octavo/core';
import type { Dispatcher } from 'undici';
import { fromWire } from '../wire-error.ts';
import type { Endpoint } from './endpoint.ts';

/** A failed attempt at a call. */
export interface Failure {
  readonly error: AppError;
  /** The server did nothing, so any method may be tried again. */
  readonly isUndone: boolean;
  /** The connection could not be made or broke; otherwise the server itself responded with the error. */
  readonly isConnection: boolean;
}

/** The outcome of an attempt. */
export type Outcome<T> =
  | { readonly response: T; readonly failure?: undefined }
  | { readonly response?: undefined; readonly failure: Failure };

/**
 * One attempt at a call: a request to one server and its response, as a handler for undici's `dispatch`. Unlike `request`,
 * `dispatch` tells whether the request was sent, and it takes a third less time. A subclass reads the body.
 */
export abstract class Attempt<T> implements Dispatcher.DispatchHandler {
  readonly endpoint: Endpoint;
  readonly startedMs = performance.now();
  protected controller: Dispatcher.DispatchController | undefined;
  readonly #outcome = Promise.withResolvers<Outcome<T>>();
  readonly #errorBody: Buffer[] = [];
  #failure: Failure | undefined;
  #isSent = false;
  #status = 0;
  #retryAfter: string | undefined;
  #errorBytes = 0;

  constructor(endpoint: Endpoint) {
    this.endpoint = endpoint;
  }

  /** Media type of a successful response. */
  protected abstract readonly contentType: string;
  /** A chunk of the body of a successful response. */
  protected abstract onData(chunk: Buffer): void;
  /** The end of a successful response. */
  protected abstract onEnd(): void;

  /** Resolves with the response or the failure, whichever comes first; never rejects. */
  get outcome(): Promise<Outcome<T>> {
    return this.#outcome.promise;
  }

  /** Gives up the attempt with this error; the connection is closed if the request was sent. */
  abort(error: AppError): void {
    this.fail({ error, isUndone: false, isConnection: false });
    this.controller?.abort(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The attempt was given up while it waited for a connection. undici then drops the request and keeps the connection.
    if (this.#failure) throw this.#failure.error;
    this.controller = controller;
    this.#isSent = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.#status = status;
    if (status !== 200) {
      this.#retryAfter = headers['retry-after']?.toString();
      return;
    }
    const contentType = String(headers['content-type']);
    if (!contentType.startsWith(this.contentType)) {
      const message = `the RPC server answered ${contentType}, not ${this.contentType}`;
      this.abort(new AppError('internal', message));
      return;
    }
    this.endpoint.answered();
    if (headers.connection === 'close') this.endpoint.leaves(performance.now());
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#failure) return;
    if (this.#status === 200) {
      this.onData(chunk);
      return;
    }
    this.#errorBytes += chunk.length;
    if (this.#errorBytes <= errorBytesMax) this.#errorBody.push(chunk);
  }

  onResponseEnd(): void {
    // The connection may belong to another call by now.
    this.controller = undefined;
    if (this.#failure) return;
    if (this.#status === 200) this.onEnd();
    else this.#onErrorEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, cause: Error): void {
    this.controller = undefined;
    const message = this.#isSent ? 'the RPC server went away' : 'the RPC server cannot be reached';
    const error = new AppError('unavailable', message, { retryAfterSeconds: 1, cause });
    this.fail({ error, isUndone: !this.#isSent, isConnection: true });
  }

  protected succeed(response: T): void {
    this.#outcome.resolve({ response });
  }

  protected fail(failure: Failure): void {
    this.#failure ??= failure;
    this.#outcome.resolve({ failure });
  }

  #onErrorEnd(): void {
    const body = parseJson(Buffer.concat(this.#errorBody).toString());
    const { error, isUndone } = fromWire(body, this.#status, this.#retryAfter);
    if (!isUndone || error.code !== 'unavailable') this.endpoint.answered();
    this.fail({ error, isUndone, isConnection: false });
  }
}

const errorBytesMax = 256 * 1024;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
