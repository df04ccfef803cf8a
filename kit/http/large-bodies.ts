import { Readable } from 'node:stream';
import type { preParsingHookHandler, RouteOptions } from 'fastify';
import type { FastifyApp } from './access.ts';
import { bodyChunks } from './body.ts';
import type { JsonBounds } from './json-scanner.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * How a body of more than 1 MiB is bounded, which a route that takes one must declare: by bounds on JSON, which are checked
     * while it arrives, or by the handler itself.
     */
    largeBody?: JsonBounds | 'handler';
  }
}

const smallBytesMax = 1024 * 1024;

/**
 * Bounds bodies that are parsed whole, because a few megabytes of JSON can become gigabytes of objects. Throws for a route that
 * takes more than 1 MiB and does not say how its body is bounded.
 */
export function boundLargeBodies(app: FastifyApp): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    const { bodyLimit = 0, config, method, url } = route;
    const bounds = config?.largeBody;
    if (bodyLimit > smallBytesMax && bounds === undefined) {
      throw new Error(`the route ${method} ${url} does not declare how its large body is bounded`);
    }
    if (typeof bounds !== 'object') return;
    route.preParsing = [scan(bounds), ...[route.preParsing ?? []].flat()];
  });
}

function scan(bounds: JsonBounds): preParsingHookHandler {
  return (request, _reply, _payload, done) => {
    done(null, Readable.from(bodyChunks(request, bounds), { objectMode: false }));
  };
}
