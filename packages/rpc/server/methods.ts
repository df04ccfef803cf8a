import { Readable } from 'node:stream';
import { AppError } from '@octavo/core';
import type { FastifyReply, RouteHandlerMethod } from 'fastify';
import { httpStatuses } from '../codes.ts';
import type { MessageCodec, MethodDefinition } from '../contract.ts';
import {
  createEncoder,
  createEnvelopeEncoder,
  EnvelopeParser,
  endOfStream,
  writeEnvelope,
} from '../envelope.ts';
import type { NoteCall } from '../metrics.ts';
import { toWire, type WireError } from '../wire-error.ts';
import { bodyOf, callOptionsOf, decodeMessage, formatOf, rejectEncoding } from './request.ts';
import { maskInternalError, runStream, runUnary, type ServedMethod } from './run.ts';

/** The Fastify handler of a unary method. It throws for requests that the method's own handler never sees. */
export function serveUnary(
  { requestType, responseType }: MethodDefinition,
  method: ServedMethod,
  note: NoteCall,
): RouteHandlerMethod {
  const encodeProto = createEncoder(responseType);

  return async (request, reply) => {
    const startedMs = performance.now();
    const format = formatOf(request, 'application/');
    rejectEncoding(request.headers['content-encoding']);
    const options = callOptionsOf(request, reply);
    const message = decodeMessage(requestType, format, bodyOf(request));
    try {
      const response = await runUnary(method, message, options);
      const bytes = format === 'proto' ? encodeProto(response) : encodeJson(responseType, response);
      note('ok', startedMs);
      return reply.type(`application/${format}`).send(bytes);
    } catch (error) {
      const shown = maskInternalError(error, method, request.id);
      note(shown.code, startedMs);
      return sendError(reply, toWire(shown));
    }
  };
}

/** Serves a method that responds with a stream. */
export function serveStream(
  { requestType, responseType }: MethodDefinition,
  method: ServedMethod,
  note: NoteCall,
): RouteHandlerMethod {
  const encodeProto = createEnvelopeEncoder(responseType);

  return async (request, reply) => {
    const startedMs = performance.now();
    const format = formatOf(request, 'application/connect+');
    rejectEncoding(request.headers['connect-content-encoding']);
    const options = callOptionsOf(request, reply);
    const message = decodeMessage(requestType, format, onlyPayload(bodyOf(request)));
    const messages = runStream(method, message, options, () => reply.raw.destroy());
    const envelopes = Readable.from(writeEnvelopes(messages), { objectMode: false });
    return reply.type(`application/connect+${format}`).send(envelopes);

    async function* writeEnvelopes(messages: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
      let code: Parameters<NoteCall>[0] = 'canceled';
      try {
        for await (const each of messages) {
          yield format === 'proto' ? encodeProto(each) : writeEnvelope(0, encodeJson(responseType, each));
        }
        code = 'ok';
        yield endEnvelope();
      } catch (error) {
        const shown = maskInternalError(error, method, request.id);
        code = shown.code;
        yield endEnvelope(toWire(shown));
      } finally {
        note(code, startedMs);
      }
    }
  };
}

/** Responds to a unary call with an error. */
export function sendError(
  reply: FastifyReply,
  error: WireError,
  status: number = httpStatuses[error.code],
): FastifyReply {
  return reply
    .code(status)
    .type('application/json')
    .send(Buffer.from(JSON.stringify(error)));
}

/** The last envelope of a stream. */
export function endEnvelope(error?: WireError): Buffer {
  return writeEnvelope(endOfStream, Buffer.from(JSON.stringify({ error })));
}

function encodeJson(codec: MessageCodec, message: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(codec.toJSON(message)));
}

/** The message of a request to a streaming method, which is written as a stream of one. */
function onlyPayload(body: Buffer): Buffer {
  const parser = new EnvelopeParser(Number.POSITIVE_INFINITY);
  parser.push(body);
  const envelope = parser.next();
  if (!envelope || envelope.flags === endOfStream || parser.heldBytes > 0) {
    throw new AppError('invalid_input', 'the request must be exactly one message in an envelope');
  }
  return envelope.payload;
}
