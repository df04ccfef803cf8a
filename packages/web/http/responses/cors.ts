import { text } from '@octavo/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FastifyApp } from '../access.ts';

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
 * With `*`, pages of any origin may read responses of the API. With a comma-separated list, only pages of these origins may. Never with
 * cookies, and never a page, a probe or a file: only routes that are in the document of the API, and addresses without a route. With
 * `everyJson` also all other responses in JSON. Undefined without an origin. Call it before routes are added.
 *
 * `@fastify/cors` could do this, but its route for preflights handles `OPTIONS` for every address: it responds with 200 even if
 * nothing is there, and without `Allow` if something is.
 */
export function createCors(
  app: FastifyApp,
  corsOrigin: string | undefined,
  everyJson = false,
): AddCorsHeaders | undefined {
  if (!corsOrigin) return undefined;
  const api = pathsOfApi(app);
  const origins = new Set(corsOrigin.split(',').map((origin) => origin.trim()));
  const isOpen = origins.has('*');
  const isOfApi = (request: FastifyRequest) => request.is404 || api.has(request.routeOptions.url ?? '');
  // Some routes of the API respond to browsers with a page, and some others with JSON.
  app.addHook('onSend', (request, reply, _payload, done) => {
    const type = String(reply.getHeader('content-type'));
    if (type.startsWith('text/html'))
      for (const name of ['allow-origin', 'expose-headers']) reply.removeHeader(`access-control-${name}`);
    else if (everyJson && /^application\/(\w+\+)?json\b/.test(type) && !isOfApi(request)) add(request, reply);
    done();
  });
  return (request, reply) => {
    if (isOfApi(request)) add(request, reply);
  };

  function add(request: FastifyRequest, reply: FastifyReply): void {
    const { headers, method } = request;
    const { origin = '' } = headers;
    if (!isOpen) addVary(reply, 'Origin');
    if (!isOpen && !origins.has(origin)) return;
    reply.header('access-control-allow-origin', isOpen ? '*' : origin);
    reply.header('access-control-expose-headers', exposed);
    if (method === 'OPTIONS' && origin !== '' && headers['access-control-request-method'] !== undefined) {
      reply.headers(preflight);
    }
  }
}

/** Collects the paths of routes that are added from now on and are in the document of the API; also as they are without their last slash. */
function pathsOfApi(app: FastifyApp): ReadonlySet<string> {
  const paths = new Set<string>();
  app.addHook('onRoute', ({ url, schema, config }) => {
    const isInDocument = !(schema as { hide?: boolean } | undefined)?.hide && config?.allow === undefined;
    if (isInDocument && !config?.answersDuringOverload) paths.add(url).add(url.replace(/(.)\/$/, '$1'));
  });
  return paths;
}

/** Adds the name of a request header to `Vary` (RFC 9110 section 12.5.5). */
export function addVary(reply: FastifyReply, name: string): void {
  const names = reply.getHeader('vary');
  reply.header('vary', names ? `${names}, ${name}` : name);
}
