import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { AppError } from '@octavo/core';
import { newId } from '@octavo/core';
import type { FastifyReply } from 'fastify';
import type { ErrorResponses } from '../responses/error-responses.ts';
import { ClientError } from '../responses/error-table.ts';
import { securityHeaders } from '../responses/security-headers.ts';
import { unknownTransferCoding } from './request-checks.ts';

/** Fastify's `clientErrorHandler`: responds to what Node cannot parse as a request, in the same shape as every other error. */
export function createClientErrorHandler(
  responses: ErrorResponses,
  replyOn: (socket: Socket) => FastifyReply | undefined,
): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return (error, socket) => {
    const reply = replyOn(socket);
    // A response that has begun must not get another one written into it.
    if (error.code === 'ECONNRESET' || !socket.writable || reply?.raw.headersSent) {
      socket.destroy();
      return;
    }
    const requestId = reply?.request.id ?? newId();
    const { status, headers, body } = responses.of(problemOf(error), { id: requestId });
    // A request whose body does not arrive has an id, and a line in the log.
    if (reply) reply.request.brokenOffWith = status;
    const lines = Object.entries({
      ...securityHeaders.api,
      ...headers,
      'x-request-id': requestId,
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  };
}

export const headersTooLarge = new ClientError(
  431,
  'too_large',
  'The request line and headers are too large.',
  { reason: 'HEADERS_TOO_LARGE' },
);

export const lateRequest = new ClientError(408, 'timeout', 'The request did not arrive in time.', {
  reason: 'REQUEST_TIMEOUT',
});

const malformed = new ClientError(400, 'invalid_input', 'The request is not valid HTTP.');

const problems: Readonly<Record<string, AppError>> = {
  HPE_HEADER_OVERFLOW: headersTooLarge,
  ERR_HTTP_REQUEST_TIMEOUT: lateRequest,
};

function problemOf({ code = '', reason = '' }: NodeJS.ErrnoException & { reason?: string }): AppError {
  // With Content-Length, Transfer-Encoding is an attempt to smuggle a request.
  const isUnknownCoding = code === 'HPE_INVALID_TRANSFER_ENCODING' && !reason.includes('Content-Length');
  return isUnknownCoding ? unknownTransferCoding() : (problems[code] ?? malformed);
}
