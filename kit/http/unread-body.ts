import type { IncomingMessage } from 'node:http';
import type { Answer } from './error-answers.ts';
import type { HttpResponse } from './response.ts';

const lingerMs = 2_000;

/**
 * Writes a whole answer to a request whose body may still be on its way. Closing the connection on bytes that
 * nobody read would reset it, and the sender would lose the answer: so it is told that the connection closes, and
 * what still comes is read and dropped for a while.
 */
export function writeAnswer(response: HttpResponse, answer: Answer): void {
  const { req: request } = response;
  const headers = { ...answer.headers, 'content-length': String(Buffer.byteLength(answer.body)) };
  if (!hasUnreadBody(request)) {
    response.writeHead(answer.status, headers);
    response.end(answer.body);
    return;
  }
  response.writeHead(answer.status, { ...headers, connection: 'close' });
  response.write(answer.body);
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, lingerMs);
  request.once('end', end).once('close', end).resume();
}

/** True while the body of a request, if it has one, has not arrived whole. */
export function hasUnreadBody(request: IncomingMessage): boolean {
  return !request.complete && hasBody(request);
}

/** True where the head announces a body (RFC 9112 section 6.3). */
export function hasBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return coding !== undefined || (length !== undefined && length !== '0');
}
