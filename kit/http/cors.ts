import type { IncomingMessage } from 'node:http';
import { HeaderLines, type Headers } from './header-lines.ts';
import { securityHeaders } from './security-headers.ts';

/**
 * What pages of other origins may do, by the Fetch standard (https://fetch.spec.whatwg.org/#http-cors-protocol).
 */
export interface Cors {
  /** The headers that every answer to a request from this origin carries. */
  linesFor(origin: string | undefined): HeaderLines;
  /** What is added where the request asks beforehand. */
  preflightHeaders(request: IncomingMessage): Headers;
}

const exposed =
  'X-Request-Id, Retry-After, ETag, Link, Location, Content-Disposition, Idempotent-Replayed, ' +
  'RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset';
const preflight = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'Authorization, Content-Type, Idempotency-Key, If-Match, X-MFA-Verified, X-Request-Id',
  'access-control-max-age': '600',
};

/**
 * `*` lets pages of any origin read answers, a list of origins separated by commas those; nobody else, and never
 * with cookies. Without a setting no such header is sent.
 */
export function createCors(corsOrigin: string | undefined): Cors {
  const base = new HeaderLines(securityHeaders.api);
  if (!corsOrigin) return { linesFor: () => base, preflightHeaders: () => ({}) };
  const open = base.with({ 'access-control-expose-headers': exposed });
  if (corsOrigin.trim() === '*') {
    const any = open.with({ 'access-control-allow-origin': '*' });
    return { linesFor: () => any, preflightHeaders: (request) => (isPreflight(request) ? preflight : {}) };
  }
  const origins = corsOrigin.split(',').map((origin) => origin.trim());
  const listed = new Map(
    origins.map((origin) => [origin, open.with({ vary: 'Origin', 'access-control-allow-origin': origin })]),
  );
  const others = base.with({ vary: 'Origin' });
  return {
    linesFor: (origin = '') => listed.get(origin) ?? others,
    preflightHeaders: (request) =>
      isPreflight(request) && listed.has(request.headers.origin ?? '') ? preflight : {},
  };
}

function isPreflight(request: IncomingMessage): boolean {
  return (
    request.headers.origin !== undefined && request.headers['access-control-request-method'] !== undefined
  );
}
