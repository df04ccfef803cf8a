import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import type { MethodDefinition } from './contract.ts';
import { createEncloser, EnvelopeReader, encloseBytes, endOfStream } from './envelope.ts';
import type { NoteCall } from './metrics.ts';
import { endEnvelope } from './reply.ts';
import {
  bodyOf,
  type Format,
  formatOf,
  readCallStart,
  readMessage,
  refuseEncoding,
  writeJson,
} from './request.ts';
import { hideForeign, runStream, type ServedMethod } from './run.ts';
import { toWire } from './wire-error.ts';

/** The route of a method that answers with a stream. */
export function serveStream(
  definition: MethodDefinition,
  method: ServedMethod,
  note: NoteCall,
): (request: FastifyRequest, reply: FastifyReply) => void {
  return (request, reply) => {
    const startedMs = performance.now();
    const format = formatOf(request, 'application/connect+');
    refuseEncoding(request.headers['connect-content-encoding']);
    const start = readCallStart(request);
    const message = readMessage(definition.requestType, format, onlyPayload(bodyOf(request)));
    reply.hijack();
    const response = reply.raw.writeHead(200, ['content-type', `application/connect+${format}`]);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const messages = runStream(method, message, { ...start, signal: gone.signal });
    writeAll(messages).then(
      () => {
        note('ok', startedMs);
        response.end(endEnvelope());
      },
      (error: unknown) => {
        const shown = hideForeign(error, method, request.id);
        note(shown.code, startedMs);
        response.end(endEnvelope(toWire(shown)));
      },
    );

    async function writeAll(messages: AsyncIterable<unknown>): Promise<void> {
      const enclose = encloserOf(definition, format);
      for await (const each of messages) {
        if (!response.write(enclose(each))) await drained(response, method.streamIdleTimeoutMs);
      }
    }
  };
}

function encloserOf({ responseType }: MethodDefinition, format: Format): (message: unknown) => Uint8Array {
  if (format === 'proto') return createEncloser(responseType);
  return (message) => encloseBytes(0, writeJson(responseType, message));
}

/** The one message of a request that is written as a stream. */
function onlyPayload(body: Buffer): Buffer {
  const reader = new EnvelopeReader(Number.POSITIVE_INFINITY);
  reader.push(body);
  const envelope = reader.next();
  if (!envelope || envelope.flags === endOfStream || reader.heldBytes > 0) {
    throw new AppError('invalid_input', 'the request must be exactly one message in an envelope');
  }
  return envelope.payload;
}

/** Waits until the reader has taken what was written, or is gone; one that takes nothing for too long is cut off. */
function drained(response: ServerResponse, idleTimeoutMs: number): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => response.destroy(), idleTimeoutMs);
    const done = () => {
      clearTimeout(timer);
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });
}
