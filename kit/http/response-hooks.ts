import type { IncomingMessage } from 'node:http';
import { performance } from 'node:perf_hooks';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyInstance } from 'fastify';
import type { ActiveRequests } from './active-requests.ts';

const lingerMs = 2_000;

/** Adds the hooks that every response passes before it is sent. */
export function addResponseHooks(app: FastifyInstance, active: ActiveRequests): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (active.isStopping) reply.header('connection', 'close');
    if (hasUnreadBody(request.raw) && isWhole(payload)) {
      reply.header('connection', 'close').header('content-length', String(Buffer.byteLength(payload)));
      done(null, Readable.from(lingering(payload, request.raw)));
    } else {
      writeAtEndOfTurn(done);
    }
  });
}

type Done = (error?: Error | null) => void;

/** How long a response may wait for others, if the handlers of its turn take longer. */
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

function isWhole(payload: unknown): payload is string | Buffer {
  return typeof payload === 'string' || Buffer.isBuffer(payload);
}

/** Whether the request has a body that has not arrived completely. */
function hasUnreadBody({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return coding !== undefined || length !== '0';
}
