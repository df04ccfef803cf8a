import type { Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import { bearerToken, RateLimiter } from '@octavo/core/auth';
import type { FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { SignedIn } from '../authentication/index.ts';
import type { Context } from '../commands.ts';
import type { NotificationHub } from '../feed/index.ts';
import { lastNotification, readNotifications } from '../notifications/index.ts';
import { Delivery } from './delivery.ts';
import { type ClientMessage, parseMessage } from './message.ts';

/** Seconds between two pings. */
export const heartbeatSeconds = 30;

const authenticateWithinMs = 10_000;
const resumeWithinMs = 1_000;
const unansweredMax = 2;
/** Messages of one client in ten seconds. */
const messages = { requestsMax: 200, windowMs: 10_000 };

const closeCodes = {
  silent: 1001,
  failed: 1011,
  unauthenticated: 4401,
  forbidden: 4403,
  signInTimeout: 4408,
  tooSlow: 4413,
  tooMany: 4429,
} as const;

/** Options for text frames; of bytes, `ws` makes a binary frame by default. */
const asText = { binary: false };

export interface LiveOptions {
  readonly context: Context;
  readonly hub: NotificationHub;
  readonly log: Log;
  readonly authenticate: (token: string) => Promise<SignedIn>;
}

/** One client: signs in, receives its notifications from where it was, and is cut off if it does not respond. */
export class LiveSocket {
  readonly #socket: WebSocket;
  readonly #options: LiveOptions;
  readonly #limiter = new RateLimiter({ ...messages, keysMax: 1 });
  #caller: SignedIn | undefined;
  #delivery: Delivery | undefined;
  #readySeq = 0;
  #unanswered = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopWatching: () => void = () => {};
  #stopListening: () => void = () => {};
  #handled = Promise.resolve();

  constructor(socket: WebSocket, request: FastifyRequest, options: LiveOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on('message', (data, isBinary) => {
      // One after the other, in the order they came.
      this.#handled = this.#handled
        .then(() => this.#receive(String(data), isBinary))
        .catch((error) => this.#fail(error));
    });
    socket.on('pong', () => {
      this.#unanswered = 0;
    });
    socket.on('close', () => this.#stop());
    socket.on('error', () => socket.terminate());
    const token = tokenOf(request);
    // Messages of the client wait for the sign-in.
    if (token !== undefined) this.#handled = this.#signIn(token).catch((error) => this.#fail(error));
    else
      this.#timer = setTimeout(
        () => this.#close('signInTimeout', 'Not signed in in time.'),
        authenticateWithinMs,
      );
  }

  /** Pings the client. */
  heartbeat(): void {
    if (this.#unanswered >= unansweredMax) {
      this.#close('silent', 'No answer to pings.');
      this.#socket.terminate();
      return;
    }
    this.#unanswered++;
    this.#socket.ping();
  }

  #guard(work: () => Promise<void>): void {
    work().catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    if (error instanceof TypeError) this.#error('INVALID_INPUT', error.message);
    else if (error instanceof AppError && error.code === 'validation_failed') {
      this.#error('VALIDATION_FAILED', error.message);
    } else if (
      error instanceof AppError &&
      (error.code === 'unauthenticated' || error.code === 'forbidden')
    ) {
      this.#close(error.code, error.message);
    } else {
      this.#options.log.error({ err: error }, 'a WebSocket failed');
      this.#close('failed', 'Something went wrong on our side.');
    }
  }

  async #receive(text: string, isBinary: boolean): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    const { isAllowed } = this.#limiter.take('messages', Date.now());
    if (!isAllowed) return this.#close('tooMany', 'Too many messages.');
    if (isBinary) throw new TypeError('A message must be text.');
    const message = parseMessage(text);
    if (message.type === 'auth') {
      await this.#signIn(typeof message.token === 'string' ? message.token : '');
    } else if (!this.#caller) this.#error('UNAUTHORIZED', 'Sign in first.');
    else await this.#handle(message, this.#caller);
  }

  async #handle(message: Exclude<ClientMessage, { type: 'auth' }>, caller: SignedIn): Promise<void> {
    if (message.type === 'ping') void this.#send(JSON.stringify({ type: 'pong', t: message.t }));
    else if (message.type === 'ack') await readNotifications(this.#options.context, caller, message.seq);
    else if (this.#delivery) this.#error('CONFLICT', 'The delivery has begun already.');
    else {
      const { context } = this.#options;
      const afterSeq = message.lastSeq ?? (await lastNotification(context, caller));
      this.#guard(() => this.#deliver(caller, afterSeq));
    }
  }

  async #signIn(token: string): Promise<void> {
    const { authenticate, context, hub } = this.#options;
    const caller = await authenticate(token);
    if (this.#caller || this.#socket.readyState !== this.#socket.OPEN) return;
    this.#caller = caller;
    clearTimeout(this.#timer);
    this.#stopWatching = hub.sessions.watch(caller, (reason) => this.#fail(reason));
    this.#readySeq = await lastNotification(context, caller);
    const { userId } = caller;
    void this.#send(
      JSON.stringify({ type: 'ready', userId, seq: this.#readySeq, heartbeat: heartbeatSeconds }),
    );
    this.#timer = setTimeout(() => {
      if (!this.#delivery) this.#guard(() => this.#deliver(caller, this.#readySeq));
    }, resumeWithinMs);
  }

  async #deliver(caller: SignedIn, afterSeq: number): Promise<void> {
    if (this.#delivery || this.#socket.readyState !== this.#socket.OPEN) return;
    const { context, hub } = this.#options;
    clearTimeout(this.#timer);
    const receiver = {
      send: (text: string) => this.#send(text),
      push: (bytes: Buffer, onSent: () => void) => this.#socket.send(bytes, asText, onSent),
      tooSlow: () => this.#close('tooSlow', 'Too many messages wait.'),
    };
    const delivery = new Delivery({ context, caller, receiver });
    this.#delivery = delivery;
    this.#stopListening = hub.listen(caller.userId, (event) => delivery.take(event));
    await delivery.start(afterSeq);
  }

  #send(text: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#socket.send(text, () => resolve());
    return promise;
  }

  #error(code: string, message: string): void {
    void this.#send(JSON.stringify({ type: 'error', code, message }));
  }

  #close(code: keyof typeof closeCodes, reason: string): void {
    this.#socket.close(closeCodes[code], reason);
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#stopWatching();
    this.#stopListening();
    this.#delivery?.stop();
  }
}

/** Token of the `Authorization` header, or after `bearer` among the subprotocols, since pages cannot set headers. */
function tokenOf({ headers }: FastifyRequest): string | undefined {
  if (headers.authorization !== undefined) return bearerToken(headers.authorization) ?? '';
  const [scheme, token] = (headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim());
  return scheme === 'bearer' ? (token ?? '') : undefined;
}
