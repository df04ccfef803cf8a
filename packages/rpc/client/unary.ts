import { AppError } from '@octavo/core';
import type { CallOptions } from '../contract.ts';
import { Attempt } from './attempt.ts';
import { RemoteCall, type RemoteMethod } from './call.ts';
import type { Endpoint } from './endpoint.ts';

/** Makes a unary call over the network. */
export async function callUnary(
  method: RemoteMethod,
  request: unknown,
  options: CallOptions,
): Promise<unknown> {
  const call = new RemoteCall(method, options);
  try {
    const bytes = await call.send(request, (endpoint) => new UnaryAttempt(endpoint, method.messageBytesMax));
    const response = decode(method, bytes);
    call.end('ok');
    return response;
  } catch (error) {
    call.end((error as AppError).code);
    throw error;
  }
}

/** Collects the body. */
class UnaryAttempt extends Attempt<Buffer> {
  protected readonly contentType = 'application/proto';
  readonly #bytesMax: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(endpoint: Endpoint, bytesMax: number) {
    super(endpoint);
    this.#bytesMax = bytesMax;
  }

  protected override onData(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes <= this.#bytesMax) return;
    this.abort(new AppError('internal', `the RPC response is larger than ${this.#bytesMax} bytes`));
  }

  protected override onEnd(): void {
    const [first] = this.#chunks;
    this.succeed(first && this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks));
  }
}

function decode({ responseType }: RemoteMethod, bytes: Buffer): unknown {
  try {
    return responseType.decode(bytes);
  } catch (cause) {
    throw new AppError('internal', 'the RPC response cannot be read', { cause });
  }
}
