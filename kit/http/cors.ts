import type { FastifyReply, FastifyRequest } from 'fastify';

/** Adds to a response what pages of other origins may do with it (https://fetch.spec.whatwg.org/#http-cors-protocol). */
export type AddCorsHeaders = (request: FastifyRequest, reply: FastifyReply) => void;

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
 * With `*`, pages of any origin may read responses; with a list separated by commas, those of its origins; nobody else, and
 * never with cookies. Absent where no origin is given.
 *
 * `@fastify/cors` would do, but its route for preflights takes `OPTIONS` of every address: it answers 200 where there is
 * nothing, and without `Allow` where there is something.
 */
export function createCors(corsOrigin: string | undefined): AddCorsHeaders | undefined {
  if (!corsOrigin) return undefined;
  const origins = new Set(corsOrigin.split(',').map((origin) => origin.trim()));
  const isOpen = origins.has('*');
  return ({ headers, method }, reply) => {
    const { origin = '' } = headers;
    if (!isOpen) addVary(reply, 'Origin');
    if (!isOpen && !origins.has(origin)) return;
    reply.header('access-control-allow-origin', isOpen ? '*' : origin);
    reply.header('access-control-expose-headers', exposed);
    if (method === 'OPTIONS' && origin !== '' && headers['access-control-request-method'] !== undefined) {
      reply.headers(preflight);
    }
  };
}

/** Adds the name of a request header to `Vary` (RFC 9110 section 12.5.5). */
export function addVary(reply: FastifyReply, name: string): void {
  const names = reply.getHeader('vary');
  reply.header('vary', names ? `${names}, ${name}` : name);
}
