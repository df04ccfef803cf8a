import { AppError } from '../errors.ts';
import { canceled, streamTimedOut } from './call.ts';
import type { ConnectionPool } from './connection-pool.ts';
import type { CallOptions } from './contract.ts';
import type { Endpoint } from './endpoint.ts';
import { type Envelope, EnvelopeReader, endOfStream } from './envelope.ts';
import type { RemoteMethod } from './remote.ts';
import { RemoteCall } from './remote-call.ts';
import { fromWire } from './wire-error.ts';

/**
 * The messages of a stream over the network. The call starts when the first one is asked for, and is canceled when
 * the reader stops. At most 1 MiB, or one message, is held before the reader takes it.
 */
export async function* streamMessages(
  method: RemoteMethod,
  request: unknown,
  options: CallOptions,
): AsyncGenerator<unknown, void, undefined> {
  const call = new StreamCall(method, options);
  try {
    call.send(request);
    for (;;) {
      const message = await call.next();
      if (message === undefined) return;
      yield message;
    }
  } finally {
    call.close();
  }
}

class StreamCall extends RemoteCall {
  protected readonly contentType = 'application/connect+proto';
  readonly #reader: EnvelopeReader;
  readonly #idle: NodeJS.Timeout;
  #isPaused = false;
  #hasBegun = false;
  #isComplete = false;
  #last: Envelope | undefined;
  #error: AppError | undefined;
  #waiting: Waiting | undefined;

  constructor(method: RemoteMethod, options: CallOptions) {
    super(method, options);
    this.#reader = new EnvelopeReader(method.messageBytesMax);
    this.#idle = setTimeout(() => this.#onIdle(), method.streamIdleTimeoutMs);
  }

  send(request: unknown): void {
    this.begin(request);
  }

  /** The next message; `undefined` after the last. */
  next(): Promise<unknown> {
    this.#idle.refresh();
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#advance();
    });
  }

  close(): void {
    clearTimeout(this.#idle);
    this.fail(canceled(this.method.name));
  }

  protected override get hasBegun(): boolean {
    return this.#hasBegun;
  }

  protected override poolOf(endpoint: Endpoint): ConnectionPool {
    return endpoint.streams;
  }

  protected override onData(chunk: Buffer): void {
    this.#hasBegun = true;
    if (this.#waiting) this.#idle.refresh();
    this.#reader.push(chunk);
    this.#advance();
  }

  protected override onEnd(): void {
    this.#isComplete = true;
    this.#advance();
  }

  protected override onFailure(error: AppError): void {
    this.#error = error;
    this.#advance();
  }

  /** Gives the reader what it waits for, where that is there, and holds back the server where it is not waited for. */
  #advance(): void {
    const waiting = this.#waiting;
    try {
      if (waiting && this.#error) this.#settle().reject(this.#error);
      else if (waiting) this.#takeNext();
      this.#setPaused(this.#reader.heldBytes > heldBytesMax && this.#reader.isReady);
    } catch (error) {
      this.#unreadable(error);
    }
  }

  #takeNext(): void {
    const envelope = this.#last ?? this.#reader.next();
    if (envelope && envelope.flags !== endOfStream) {
      const message = this.method.responseType.decode(envelope.payload);
      this.#settle().resolve(message);
    } else if (this.#isComplete) {
      this.#onComplete(envelope);
    } else {
      this.#last ??= envelope && { ...envelope, payload: Buffer.from(envelope.payload) };
    }
  }

  #onComplete(last: Envelope | undefined): void {
    if (this.#reader.heldBytes > 0 && last) throw new Error('there are bytes after the end of the stream');
    const { error } = JSON.parse(String(last?.payload ?? '{}')) as { error?: unknown };
    if (!last) this.#cutOff();
    else if (error !== undefined) this.fail(fromWire(error, 200).error);
    else if (this.finish('ok')) this.#settle().resolve(undefined);
  }

  /** The one who waits, who then waits no more. */
  #settle(): Waiting {
    const waiting = this.#waiting as Waiting;
    this.#waiting = undefined;
    this.#idle.refresh();
    return waiting;
  }

  /** The response ended as if it were whole, but it does not say so: a proxy, or a server that died, cut it. */
  #cutOff(): void {
    this.#isComplete = false;
    const error = new AppError('unavailable', 'the RPC stream was cut off', { retryAfterSeconds: 1 });
    this.failAttempt({ error, isUndone: false, isConnection: true });
  }

  #setPaused(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.control?.pause();
    else this.control?.resume();
  }

  #onIdle(): void {
    const { name, streamIdleTimeoutMs } = this.method;
    this.fail(streamTimedOut(name, this.#waiting ? 'sent nothing' : 'was not read', streamIdleTimeoutMs));
  }

  #unreadable(cause: unknown): void {
    this.fail(new AppError('internal', 'the RPC stream cannot be read', { cause }));
  }
}

interface Waiting {
  resolve(message: unknown): void;
  reject(error: AppError): void;
}

const heldBytesMax = 1024 * 1024;
