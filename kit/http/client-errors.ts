import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import { AppError } from '../errors.ts';
import { newId } from '../ids.ts';
import type { ErrorResponses } from './error-responses.ts';
import { securityHeaders } from './security-headers.ts';

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
    const { status, reason, explain } = kinds[error.code ?? ''] ?? malformed;
    // A request whose body does not arrive has an id, and a line in the log.
    if (reply) reply.request.brokenOffWith = status;
    const requestId = reply?.request.id ?? newId();
    const { headers, body } = responses.of(explain(), requestId);
    const lines = Object.entries({
      ...securityHeaders.api,
      ...headers,
      'x-request-id': requestId,
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${body}`);
  };
}

interface Kind {
  readonly status: number;
  readonly reason: string;
  explain(): AppError;
}

const malformed: Kind = {
  status: 400,
  reason: 'Bad Request',
  explain: () => new AppError('invalid_input', 'The request is not well-formed HTTP.'),
};

const kinds: Readonly<Record<string, Kind>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    reason: 'Request Header Fields Too Large',
    explain: () =>
      new AppError('too_large', 'The request line and headers are too large.', {
        reason: 'HEADERS_TOO_LARGE',
      }),
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    reason: 'Request Timeout',
    explain: () =>
      new AppError('timeout', 'The request did not arrive in time.', { reason: 'REQUEST_TIMEOUT' }),
  },
};
