import { AppError } from '../errors.ts';
import type { AnswerControl, AnswerHandler } from './connection.ts';
import type { Endpoint } from './endpoint.ts';
import type { Endpoints } from './endpoints.ts';

/** Throws `unavailable` unless one of the servers answers `GET /health` with 200. */
export async function ping(endpoints: Endpoints, signal: AbortSignal | undefined): Promise<void> {
  if (endpoints.size === 0) await endpoints.lookUp();
  try {
    signal?.throwIfAborted();
    await Promise.any(endpoints.all().map((endpoint) => new Ping(endpoint).send(signal)));
  } catch (cause) {
    throw new AppError('unavailable', 'the RPC server does not answer', { retryAfterSeconds: 1, cause });
  }
}

class Ping implements AnswerHandler {
  hasEnded = false;
  readonly #endpoint: Endpoint;
  readonly #answer = Promise.withResolvers<void>();
  #control: AnswerControl | undefined;
  #status = 0;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  async send(signal: AbortSignal | undefined): Promise<void> {
    const { streams, target } = this.#endpoint;
    const onAbort = () => this.#giveUp(signal?.reason as Error);
    signal?.addEventListener('abort', onAbort, { once: true });
    const head = `GET /health HTTP/1.1\r\nhost: ${target.host}\r\n\r\n`;
    streams.dispatch({ head, body: new Uint8Array(0) }, this);
    try {
      await this.#answer.promise;
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  onRequestStart(control: AnswerControl): void {
    this.#control = control;
  }

  onResponseStart(status: number): void {
    this.#status = status;
  }

  onResponseData(): void {}

  onResponseEnd(): void {
    this.#control = undefined;
    if (this.#status === 200) this.#answer.resolve();
    else this.#answer.reject(new Error(`${this.#endpoint.origin}/health answered ${this.#status}`));
  }

  onResponseError(error: Error): void {
    this.#control = undefined;
    this.#answer.reject(error);
  }

  #giveUp(reason: Error): void {
    this.hasEnded = true;
    this.#control?.abort();
    this.#answer.reject(reason);
  }
}
