import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.ts';
import { fromFastify } from '../http/error-table.ts';
import type { Log } from '../log.ts';
import { type ConnectCode, httpStatuses } from './codes.ts';
import { encloseBytes, endOfStream } from './envelope.ts';
import { joinedBytesMax, latin1 } from './latin1.ts';
import { contentTypeOf } from './request.ts';
import { toWire, type WireError } from './wire-error.ts';

/** Answers a call with a whole body. Around Fastify's own sending, whose hooks are for pages and documents. */
export function sendBytes(reply: FastifyReply, status: number, contentType: string, bytes: Uint8Array): void {
  reply.hijack();
  const headers = ['content-type', contentType, 'content-length', String(bytes.length)];
  const response = reply.raw.writeHead(status, headers);
  if (bytes.length <= joinedBytesMax) response.end(latin1(bytes), 'latin1');
  else response.end(bytes);
}

/** Answers a unary call with the error of its handler. */
export function sendError(reply: FastifyReply, error: AppError): void {
  const wire = toWire(error);
  sendBytes(reply, httpStatuses[wire.code], 'application/json', Buffer.from(JSON.stringify(wire)));
}

/** The last envelope of a stream. */
export function endEnvelope(error?: WireError): Buffer {
  return encloseBytes(endOfStream, Buffer.from(JSON.stringify(error ? { error } : {})));
}

/** Answers a call that no handler has seen, so that a client may try another server. */
export function sendRefusal(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: {
    readonly error: unknown;
    readonly log: Log;
    readonly code?: ConnectCode;
    readonly status?: number;
  },
): void {
  const error = fromFastify(refusal.error);
  if (error.code === 'internal' && !(refusal.error instanceof AppError)) {
    refusal.log.error({ err: refusal.error, requestId: request.id }, 'RPC request failed');
  }
  const wire = toWire(error, { isRefusal: true, code: refusal.code });
  const isMedia = error.code === 'unsupported_media_type';
  const contentType = contentTypeOf(request);
  if (contentType.startsWith('application/connect+') && !isMedia) {
    sendBytes(reply, 200, contentType, endEnvelope(wire));
    return;
  }
  const statuses: Partial<Record<string, number>> = { unsupported_media_type: 415, method_not_allowed: 405 };
  const status = refusal.status ?? statuses[error.code] ?? httpStatuses[wire.code];
  reply
    .code(status)
    .type('application/json')
    .send(Buffer.from(JSON.stringify(wire)));
}
