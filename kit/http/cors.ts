import type { FastifyReply, FastifyRequest } from 'fastify';
import { text } from '../config.ts';

/** The setting of the origins; declare it with a default if there is one. */
export const corsOriginSetting = text({
  help: 'Origins whose pages may call the API, separated by commas, or *',
});

/** Adds the CORS headers to a response (https://fetch.spec.whatwg.org/#http-cors-protocol). */
export type AddCorsHeaders = (request: FastifyRequest, reply: FastifyReply) => void;

const exposed =
  'X-Request-Id, Retry-After, Allow, ETag, Link, Location, X-Total-Count, Content-Disposition, Idempotent-Replayed, ' +
  'RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset';
const preflight = {
  'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
  'access-control-allow-headers':
    'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, If-Range, Range, X-MFA-Verified, X-Request-Id',
  'access-control-max-age': '600',
};

/**
 * With `*`, pages of any origin may read responses. With a comma-separated list, only pages of these origins may. Never with
 * cookies. Undefined without an origin.
 *
 * `@fastify/cors` could do this, but its route for preflights handles `OPTIONS` for every address: it responds with 200 even if
 * nothing is there, and without `Allow` if something is.
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
