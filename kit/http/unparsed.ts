import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../errors.ts';
import { newId } from '../ids.ts';
import { answerOn } from './connections.ts';
import type { ErrorAnswers } from './error-answers.ts';
import type { HttpResponse } from './response.ts';
import { securityHeaders } from './security-headers.ts';

/**
 * Answers what Node could not parse as a request, in the shape of every other error; it never becomes a request.
 */
export function answerUnparsedRequests(server: Server, answers: ErrorAnswers): void {
  server.removeAllListeners('clientError');
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Into an answer that is on its way another must not be written.
    if (error.code === 'ECONNRESET' || !socket.writable || answerOn(socket)?.headersSent) {
      socket.destroy();
      return;
    }
    const { status, reason, told } = refusals[error.code ?? ''] ?? malformed;
    // One whose body does not come has an id, and a line in the log.
    const response = answerOn(socket) as HttpResponse | undefined;
    if (response) response.refusedWith = status;
    const request = { id: response?.requestId || newId() };
    const answer = answers.of(told(), request);
    const headers = {
      ...securityHeaders.api,
      ...answer.headers,
      'x-request-id': request.id,
      'content-length': String(Buffer.byteLength(answer.body)),
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${answer.body}`);
  });
}

interface Refusal {
  readonly status: number;
  readonly reason: string;
  told(): AppError;
}

const malformed: Refusal = {
  status: 400,
  reason: 'Bad Request',
  told: () => new AppError('invalid_input', 'The request is not well-formed HTTP.'),
};

const refusals: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    reason: 'Request Header Fields Too Large',
    told: () =>
      new AppError('too_large', 'The request line and headers are too large.', {
        reason: 'HEADERS_TOO_LARGE',
      }),
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    reason: 'Request Timeout',
    told: () => new AppError('timeout', 'The request did not arrive in time.', { reason: 'REQUEST_TIMEOUT' }),
  },
};
