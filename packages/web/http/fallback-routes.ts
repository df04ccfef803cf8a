import { AppError } from '@octavo/core';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  HTTPMethods,
  RouteOptions,
} from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** True if no route handles this request: its path is unknown, or has no route for its method. */
    readonly isUnrouted: boolean;
  }
  interface FastifyContextConfig {
    /** Marks a fallback route; the value of its `Allow` header. */
    allow?: string;
  }
}

/** The routes of one path. */
interface KnownPath {
  readonly scope: FastifyInstance;
  /** Path without the prefix of the scope. */
  readonly path: string;
  readonly methods: Set<string>;
  /** Matches the addresses that it is for. */
  readonly pattern: RegExp;
}

/**
 * Watches every route that is added from now on. Call the returned function when all routes are added. It adds fallback routes
 * for the other methods of each path: 405 with `Allow`, and for `OPTIONS` 204 with `Allow`. Fastify itself would respond with 404
 * or, for `GET /posts/bulk`, use `GET /posts/:id`.
 *
 * A fallback route belongs to the scope of its path, so that the hooks of the scope run first. The route for `OPTIONS` belongs to
 * the server, because preflights come without credentials.
 */
export function watchRoutes(app: FastifyInstance): () => void {
  const paths = new Map<string, KnownPath>();
  app.decorateRequest('isUnrouted', {
    getter(this: FastifyRequest) {
      const isWrongMethod = this.routeOptions.config.allow !== undefined && this.method !== 'OPTIONS';
      return this.is404 || isWrongMethod;
    },
  });
  app.addHook('onRoute', function (this: FastifyInstance, { url, routePath, prefix, method, config }) {
    // Fastify silently adds the root of a scope a second time, with a slash.
    if (config?.allow !== undefined || (routePath === '/' && prefix !== '')) return;
    const known = paths.get(url) ?? {
      scope: this,
      path: routePath,
      methods: new Set(),
      pattern: patternOf(url),
    };
    for (const each of [method].flat()) known.methods.add(each);
    paths.set(url, known);
  });
  return () => {
    for (const [url, { scope, path }] of paths) {
      const methods = methodsAt(url, paths);
      const allow = [...new Set([...methods, 'OPTIONS'])].sort(byOrder).join(', ');
      const others = app.supportedMethods.filter((method) => !methods.has(method) && method !== 'OPTIONS');
      scope.route(fallback(path, others, { allow, onRequest: refuseMethod }));
      if (!methods.has('OPTIONS')) {
        app.route(fallback(url, ['OPTIONS'], { allow, onRequest: answerOptions }));
      }
    }
  };
}

/** Returns true for `OPTIONS *`, which asks about the server and not about an address (RFC 9110 section 9.3.7). */
export function isAboutServer({ method, raw }: FastifyRequest): boolean {
  return raw.url === '*' && method === 'OPTIONS';
}

export function answerServerOptions(reply: FastifyReply): void {
  reply.code(204).header('allow', order.join(', ')).send();
}

/** A path without parameters has its own methods only. Any other also has those of each path that matches the same addresses. */
function methodsAt(url: string, paths: ReadonlyMap<string, KnownPath>): ReadonlySet<string> {
  const own = paths.get(url)?.methods ?? new Set();
  if (!/[:*]/.test(url)) return own;
  const address = url.replace(/:\w+(\([^)]*\))?/g, '~').replace('*', '~/~');
  const fitting = [...paths.values()].filter(({ pattern }) => pattern.test(address));
  return new Set(fitting.flatMap(({ methods }) => [...methods]));
}

function patternOf(template: string): RegExp {
  const source = template
    .replace(/[.+?^${}|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replace(/:\w+(\([^)]*\))?/g, '[^/]+');
  return new RegExp(`^${source}$`);
}

type OnRequest = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

function fallback(
  url: string,
  method: readonly string[],
  { allow, onRequest }: { allow: string; onRequest: OnRequest },
): RouteOptions {
  const hidden = { access: 'public', schema: { hide: true }, config: { allow }, exposeHeadRoute: false };
  return { ...hidden, url, method: method as HTTPMethods[], onRequest, handler: () => {} };
}

const refuseMethod: OnRequest = (request, reply) => {
  reply.header('allow', request.routeOptions.config.allow);
  throw new AppError('method_not_allowed', `${request.method} is not supported here.`);
};

const answerOptions: OnRequest = (request, reply) => {
  reply.code(204).header('allow', request.routeOptions.config.allow).send();
};

const order = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

function byOrder(one: string, other: string): number {
  return order.indexOf(one) - order.indexOf(other);
}
