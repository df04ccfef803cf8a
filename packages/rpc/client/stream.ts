import { Readable } from 'node:stream';
import { AppError } from '@octavo/core';
import type { CallOptions } from '../contract.ts';
import { canceled, streamTimedOut } from '../deadline.ts';
import { EnvelopeParser, endOfStream } from '../envelope.ts';
import { fromWire } from '../wire-error.ts';
import { Attempt, type Failure } from './attempt.ts';
import { RemoteCall, type RemoteMethod } from './call.ts';
import type { Endpoint } from './endpoint.ts';

/**
 * The messages of a stream over the network. The call starts when the first one is asked for, and is canceled when its
 * consumer stops. A slow consumer slows the server down.
 */
export async function* callStream(
  method: RemoteMethod,
  request: unknown,
  options: CallOptions,
): AsyncGenerator<unknown, void, undefined> {
  const { name, streamIdleTimeoutMs } = method;
  const call = new RemoteCall(method, options);
  let isRead = true;
  const idle = setTimeout(() => {
    call.fail(streamTimedOut(name, isRead ? 'sent nothing' : 'was not read', streamIdleTimeoutMs));
  }, streamIdleTimeoutMs);
  let code: AppError['code'] | 'ok' = 'canceled';
  try {
    const body = await call.send(request, (endpoint) => new StreamAttempt(endpoint, name));
    const messages = new MessageParser(method);
    for await (const chunk of body) {
      idle.refresh();
      for (const message of messages.read(chunk)) {
        isRead = false;
        yield message;
        if (call.error) throw call.error;
        isRead = true;
        idle.refresh();
      }
    }
    messages.end();
    code = 'ok';
  } catch (error) {
    code = (error as AppError).code;
    throw error;
  } finally {
    clearTimeout(idle);
    call.end(code);
  }
}

/** Responds with the body as a stream once its first bytes are there; until then the call can be tried again. */
class StreamAttempt extends Attempt<Readable> {
  protected readonly contentType = 'application/connect+proto';
  readonly #method: string;
  #body: Readable | undefined;

  constructor(endpoint: Endpoint, method: string) {
    super(endpoint);
    this.#method = method;
  }

  protected override onData(chunk: Buffer): void {
    if (!this.#body) {
      this.#body = this.#createBody();
      this.succeed(this.#body);
    }
    if (!this.#body.push(chunk)) this.controller?.pause();
  }

  protected override onEnd(): void {
    if (this.#body) this.#body.push(null);
    else this.fail({ error: cutOff(), isUndone: false, isConnection: true });
  }

  protected override fail(failure: Failure): void {
    super.fail(failure);
    this.#body?.destroy(failure.error);
  }

  #createBody(): Readable {
    const body = new Readable({
      read: () => this.controller?.resume(),
      destroy: (error, done) => {
        this.abort(canceled(this.#method));
        done(error);
      },
    });
    // It may fail before its consumer listens. The consumer gets the error all the same.
    return body.on('error', () => {});
  }
}

/** Reads the messages of a response, and how it ended. */
class MessageParser {
  readonly #method: RemoteMethod;
  readonly #envelopes: EnvelopeParser;
  #last: { readonly error?: unknown } | undefined;

  constructor(method: RemoteMethod) {
    this.#method = method;
    this.#envelopes = new EnvelopeParser(method.messageBytesMax);
  }

  /** The messages that are complete with this chunk. Throws `internal` for what cannot be read. */
  *read(chunk: Buffer): Generator<unknown, void, undefined> {
    this.#envelopes.push(chunk);
    for (let message = this.#next(); message !== undefined; message = this.#next()) yield message;
  }

  /** The response is over: throws the error that it ended with, or `unavailable` if it is not complete. */
  end(): void {
    if (!this.#last) throw cutOff();
    if (this.#envelopes.heldBytes > 0) throw unreadable(new Error('there are bytes after the end'));
    if (this.#last.error !== undefined) throw fromWire(this.#last.error, 200).error;
  }

  #next(): unknown {
    try {
      const envelope = this.#envelopes.next();
      if (envelope && this.#last) throw new Error('there is a message after the end');
      if (envelope?.flags !== endOfStream)
        return envelope && this.#method.responseType.decode(envelope.payload);
      this.#last = JSON.parse(envelope.payload.toString()) as { readonly error?: unknown };
      return undefined;
    } catch (cause) {
      throw unreadable(cause);
    }
  }
}

/** The response ended without saying so: the server died, or a proxy cut it. */
function cutOff(): AppError {
  return new AppError('unavailable', 'the RPC stream was cut off', { retryAfterSeconds: 1 });
}

function unreadable(cause: unknown): AppError {
  return new AppError('internal', 'the RPC stream cannot be read', { cause });
}
