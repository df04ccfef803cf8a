import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyInstance } from 'fastify';
import { type ActiveRequests, hasBody } from '../requests/active-requests.ts';

const lingerMs = 2_000;

/** Adds the hooks that every response passes before it is sent. */
export function addResponseHooks(app: FastifyInstance, active: ActiveRequests): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (active.isStopping) reply.header('connection', 'close');
    const whole = isWhole(payload);
    if (!whole && payload !== undefined && payload !== null) active.track(request.raw.socket, reply);
    const lengthBytes = reply.getHeader('content-length');
    if (payload instanceof Readable && lengthBytes !== undefined) {
      const bounded = Readable.from(upTo(payload, Number(lengthBytes)), { objectMode: false });
      bounded.once('close', () => payload.destroy());
      done(null, bounded);
    } else if (whole && !request.raw.complete && hasBody(request.raw)) {
      reply.header('connection', 'close').header('content-length', String(Buffer.byteLength(payload)));
      done(null, Readable.from(lingering(payload, request.raw)));
    } else {
      writeAtEndOfTurn(done);
    }
  });
}

type Done = (error?: Error | null) => void;

/** Longest time that a response may wait for others, if the handlers of its turn take longer. */
const togetherMs = 1;
let waiting: Done[] = [];
let firstMs = 0;

/**
 * Responses that are ready in the same turn of the event loop are written together at its end. A write that wakes a client costs
 * as much as a whole point read; the writes after it find the client awake (decision 018).
 */
function writeAtEndOfTurn(done: Done): void {
  if (waiting.push(done) === 1) {
    firstMs = performance.now();
    setImmediate(writeAll);
  } else if (performance.now() - firstMs > togetherMs) {
    writeAll();
  }
}

function writeAll(): void {
  const dones = waiting;
  waiting = [];
  for (const done of dones) {
    try {
      done();
    } catch (error) {
      done(error as Error);
    }
  }
}

/**
 * Returns the payload once the body of the request has arrived, at most two seconds later. Closing a connection with unread bytes
 * resets it, and the client would lose the response.
 */
async function* lingering(
  payload: string | Buffer,
  request: IncomingMessage,
): AsyncGenerator<string | Buffer> {
  yield payload;
  await finished(request.resume(), { signal: AbortSignal.timeout(lingerMs) }).catch(() => undefined);
}

/**
 * Ends with the last byte that `Content-Length` announces. A client has all of the response then and may close the connection before
 * the source says that it has ended, which would count as a client that went away.
 */
async function* upTo(payload: Readable, lengthBytes: number): AsyncGenerator<Uint8Array | string> {
  let sentBytes = 0;
  for await (const chunk of payload as AsyncIterable<Uint8Array | string>) {
    sentBytes += Buffer.byteLength(chunk);
    yield chunk;
    if (sentBytes >= lengthBytes) return;
  }
}

function isWhole(payload: unknown): payload is string | Buffer {
  return typeof payload === 'string' || Buffer.isBuffer(payload);
}
