import { AppError } from '../errors.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { Endpoint } from './endpoint.ts';
import { RemoteCall } from './remote-call.ts';

/** A unary call over the network. */
export class UnaryCall extends RemoteCall {
  protected readonly contentType = 'application/proto';
  readonly #answer = Promise.withResolvers<unknown>();
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  /** Sends the call's request, and gives its answer. */
  send(request: unknown): Promise<unknown> {
    this.begin(request);
    return this.#answer.promise;
  }

  protected override poolOf(endpoint: Endpoint): ConnectionPool {
    return endpoint.unary;
  }

  protected override onData(chunk: Buffer, isLast: boolean): void {
    this.#chunks.push(isLast ? chunk : Buffer.from(chunk));
    this.#bytes += chunk.length;
    if (this.#bytes > this.method.messageBytesMax) {
      this.fail(
        new AppError('internal', `the RPC answer is larger than ${this.method.messageBytesMax} bytes`),
      );
    }
  }

  protected override onEnd(): void {
    const [first] = this.#chunks;
    const bytes = first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks);
    try {
      const message = this.method.responseType.decode(bytes);
      if (this.finish('ok')) this.#answer.resolve(message);
    } catch (error) {
      this.fail(new AppError('internal', 'the RPC answer cannot be read', { cause: error }));
    }
  }

  protected override onFailure(error: AppError): void {
    this.#answer.reject(error);
  }
}
