import type { IncomingMessage } from 'node:http';
import { AppError } from '../errors.ts';
import { isForwardedHttps, type TrustedProxy } from './client-address.ts';
import type { Cors } from './cors.ts';
import type { ErrorAnswers } from './error-answers.ts';
import type { Limits } from './options.ts';
import { requestIdOf } from './request-id.ts';
import type { HttpResponse } from './response.ts';
import type { KnownRoutes } from './routes.ts';
import { strictTransport } from './security-headers.ts';
import type { Traffic } from './traffic.ts';
import { hasBody, writeAnswer } from './unread-body.ts';

/** Gives whether the request goes on; where it does not, it has been answered. */
export type Door = (request: IncomingMessage, response: HttpResponse) => boolean;

interface DoorOptions {
  readonly traffic: Traffic;
  readonly limits: Limits;
  readonly routes: KnownRoutes;
  readonly answers: ErrorAnswers;
  readonly cors: Cors;
  readonly trustedProxy: TrustedProxy | undefined;
}

/**
 * What every request passes before it is routed: it is counted, gets its id and the headers of its answer, and is
 * refused where its head alone tells that it must be.
 */
export function createDoor(options: DoorOptions): Door {
  const { traffic, answers, cors, trustedProxy } = options;
  return (request, response) => {
    traffic.enter(response);
    const requestId = requestIdOf(request);
    request.headers['x-request-id'] = requestId;
    response.requestId = requestId;
    // The type of no body says nothing; parsers would wait for one.
    if (request.headers['content-type'] !== undefined && !hasBody(request))
      delete request.headers['content-type'];
    response.defaults = cors.linesFor(request.headers.origin);
    if (trustedProxy && isForwardedHttps(request, trustedProxy)) {
      response.defaults = response.defaults.with(strictTransport);
    }
    const refusal = refuse(request, response, options);
    if (refusal) writeAnswer(response, answers.quietly(refusal, { id: requestId }));
    else if (request.method === 'OPTIONS') return !answerOptions(request, response, options);
    return refusal === undefined;
  };
}

function refuse(
  request: IncomingMessage,
  response: HttpResponse,
  options: DoorOptions,
): AppError | undefined {
  const { limits, traffic } = options;
  const { url = '' } = request;
  const repeated = repeatedHeader(request.rawHeaders);
  if (repeated) return new AppError('invalid_input', `The header ${repeated} must be there once.`);
  if (request.headers.host === undefined && request.httpVersionMinor > 0) {
    return new AppError('invalid_input', 'The header Host is required.');
  }
  if (url.length > limits.urlCharacters) {
    return new AppError('invalid_input', `The address must be at most ${limits.urlCharacters} characters.`);
  }
  if (traffic.isOverloaded(response.startMs) && !isProbe(url)) {
    traffic.shed++;
    return new AppError('unavailable', 'The server is overloaded; try again shortly.', {
      retryAfterSeconds: 1,
    });
  }
  return undefined;
}

const probes = new Set(['/health', '/readiness', '/metrics', '/livez', '/readyz']);

function isProbe(url: string): boolean {
  return probes.has(url.split('?', 1)[0] ?? url);
}

const singleHeaders = new Map(
  ['Authorization', 'Host', 'Content-Length', 'Content-Type', 'Content-Encoding', 'Origin'].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);
const singleLengths = new Set([...singleHeaders.keys()].map((name) => name.length));

/**
 * The first header that is there twice though it has one value; Node takes the first in silence, a proxy before it
 * perhaps the last.
 */
function repeatedHeader(rawHeaders: readonly string[]): string | undefined {
  let seen: string[] | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const written = rawHeaders[index] ?? '';
    if (!singleLengths.has(written.length)) continue;
    const name = written.toLowerCase();
    if (!singleHeaders.has(name)) continue;
    if (seen?.includes(name)) return singleHeaders.get(name);
    seen ??= [];
    seen.push(name);
  }
  return undefined;
}

/**
 * Answers `OPTIONS` for every known path without a route of its own, also the preflight of another origin's page.
 */
function answerOptions(request: IncomingMessage, response: HttpResponse, options: DoorOptions): boolean {
  const { url = '' } = request;
  const { methods, hasOptions } = options.routes.at(url);
  if (methods.length === 0 || hasOptions) return false;
  const preflight = options.cors.preflightHeaders(request);
  response.writeHead(204, { allow: methods.join(', '), ...preflight });
  response.end();
  return true;
}
