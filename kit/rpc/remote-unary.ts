import { AppError } from '../errors.ts';
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

  protected override dispatch(endpoint: Endpoint, headers: readonly string[], body: Uint8Array): void {
    const { name, headerLines: shared } = this.method;
    const own = `${headerLines(headers)}content-length: ${body.length}\r\n\r\n`;
    const head = `POST /${name} HTTP/1.1\r\nhost: ${endpoint.target.host}\r\n${shared}${own}`;
    endpoint.unary.dispatch({ head, body }, this);
  }

  protected override onData(chunk: Buffer): void {
    this.#chunks.push(chunk);
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

/** Headers, given as names and values in turn, as HTTP/1.1 writes them. */
export function headerLines(headers: readonly string[]): string {
  let lines = '';
  for (let index = 0; index < headers.length; index += 2)
    lines += `${headers[index]}: ${headers[index + 1]}\r\n`;
  return lines;
}
