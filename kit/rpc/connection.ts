import { connect, type Socket } from 'node:net';
import { joinedBytesMax, latin1 } from './latin1.ts';
import { type ResponseEvents, type ResponseHead, ResponseReader } from './response-reader.ts';

/** A request as it is written: all of its head as text, and its body. */
export interface WireRequest {
  readonly head: string;
  readonly body: Uint8Array;
}

/** What whoever waits for an answer may do with it until it has ended. */
export interface AnswerControl {
  /** Gives it up. */
  abort(): void;
  /** Leaves what comes to wait on the other side, but for what was read already. */
  pause(): void;
  resume(): void;
}

/** Who waits for the answer to a request. */
export interface AnswerHandler {
  /** Nobody waits any more; the request need not be sent. */
  readonly hasEnded: boolean;
  /** The request is being written. From here on it may have been acted upon. */
  onRequestStart(control: AnswerControl): void;
  onResponseStart(status: number, headers: ResponseHead['headers']): void;
  /** A chunk holds until this returns, the last one of a body of known length until `onResponseEnd` has returned. */
  onResponseData(chunk: Buffer, isLast: boolean): void;
  onResponseEnd(): void;
  onResponseError(error: Error): void;
}

/** What a connection tells its owner. */
export interface ConnectionOwner {
  /** It can take another request. */
  onFree(connection: Connection): void;
  onClosed(connection: Connection): void;
}

/** One TCP connection that carries one request at a time. */
export class Connection implements ResponseEvents, AnswerControl {
  /** When it was last used, `performance.now()`. */
  usedMs = 0;
  /** How long the server keeps it when it is idle. */
  idleMs = 4_000;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #reader = new ResponseReader(this);
  #request: WireRequest | undefined;
  #handler: AnswerHandler | undefined;
  #isConnected = false;
  #keepsAlive = true;

  constructor(owner: ConnectionOwner, host: string, port: number) {
    this.#owner = owner;
    const onread = {
      buffer: Buffer.allocUnsafeSlow(readBytes),
      callback: (length: number, buffer: Uint8Array) => this.#onRead(buffer as Buffer, length),
    };
    this.#socket = connect({ host, port, noDelay: true, onread });
    const timer = setTimeout(
      () => this.#socket.destroy(new Error('the connection took too long')),
      connectMsMax,
    );
    this.#socket.once('connect', () => {
      clearTimeout(timer);
      // The timers of calls keep the process alive as long as there are any.
      this.#socket.unref();
      this.#isConnected = true;
      this.#write();
    });
    this.#socket.once('end', () => this.#onEndOfInput());
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.once('close', () => {
      clearTimeout(timer);
      this.#fail(new Error('the connection was closed'));
      this.#owner.onClosed(this);
    });
  }

  /** Whether the other side, as far as is known, still listens. */
  get isOpen(): boolean {
    return this.#socket.writable;
  }

  /** Sends a request, at once or when connected. Only for a connection that is free. */
  send(request: WireRequest, handler: AnswerHandler): void {
    this.#request = request;
    this.#handler = handler;
    if (this.#isConnected) this.#write();
  }

  close(): void {
    this.#socket.destroy();
  }

  onHead({ status, headers, keepsAlive }: ResponseHead): void {
    this.#keepsAlive = keepsAlive;
    const seconds = headers['keep-alive']?.match(/timeout=(\d+)/)?.[1];
    if (seconds !== undefined) this.idleMs = Math.max(0, Number(seconds) * 1_000 - 1_000);
    this.#handler?.onResponseStart(status, headers);
  }

  onData(chunk: Buffer, isLast: boolean): void {
    this.#handler?.onResponseData(chunk, isLast);
  }

  onEnd(): void {
    const handler = this.#handler;
    if (!handler) return;
    this.#handler = undefined;
    this.resume();
    if (this.#keepsAlive) this.#owner.onFree(this);
    else this.#socket.destroy();
    handler.onResponseEnd();
  }

  /** Gives the answer up, and with it the connection. */
  abort(): void {
    this.#handler = undefined;
    this.#socket.destroy();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  #write(): void {
    const request = this.#request;
    if (!request || !this.#handler) return;
    this.#request = undefined;
    if (this.#handler.hasEnded) {
      this.#handler = undefined;
      this.#owner.onFree(this);
      return;
    }
    const { head, body } = request;
    this.#handler.onRequestStart(this);
    this.#reader.expect();
    if (body.length <= joinedBytesMax) {
      this.#socket.write(head + latin1(body), 'latin1');
      return;
    }
    this.#socket.cork();
    this.#socket.write(head, 'latin1');
    this.#socket.write(body);
    this.#socket.uncork();
  }

  #onRead(buffer: Buffer, length: number): boolean {
    try {
      this.#reader.push(buffer.subarray(0, length));
    } catch (error) {
      this.#fail(error as Error);
      this.#socket.destroy();
    }
    return true;
  }

  #onEndOfInput(): void {
    try {
      this.#reader.close();
    } catch (error) {
      this.#fail(error as Error);
    }
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    const handler = this.#handler;
    this.#handler = undefined;
    handler?.onResponseError(error);
  }
}

const readBytes = 32 * 1024;
const connectMsMax = 1_000;
