import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { AppError } from '../errors.ts';

interface MethodsAt {
  /** In the order of `Allow`; none where no route has the path. */
  readonly methods: readonly string[];
  /** Whether a route answers `OPTIONS` itself. */
  readonly hasOptions: boolean;
}

const order = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Which methods the routes of a server answer, by the path of a request. */
export class KnownRoutes {
  readonly #templates = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  /**
   * Notes every route that is added from now on. The router takes `GET /posts/bulk` for `GET /posts/:id` where `/posts/bulk` has other methods: to
   * hooks it is an unknown address then (`request.is404`), and once they have passed it is refused.
   */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', (route) => {
      const { url, method } = route;
      const known = this.#templates.get(url) ?? { pattern: patternOf(url), methods: new Set() };
      for (const each of [method].flat()) known.methods.add(each);
      this.#templates.set(url, known);
      if (!url.includes(':')) return;
      const refuse: onRequestHookHandler = (request, reply, done) => {
        if (request.is404) done(unknownRoute(this, request, reply));
        else done();
      };
      route.onRequest = [refuse, ...[route.onRequest ?? []].flat()];
    });
    app.addHook('onRequest', (request, _reply, done) => {
      if (this.#isTaken(request)) Object.defineProperty(request, 'is404', { value: true });
      done();
    });
  }

  /** A path without parameters is no other's; any other belongs to each template that it fits, as in the router itself. */
  at(url: string): MethodsAt {
    const path = pathOf(url);
    const fixed = this.#templates.get(path);
    const fitting = fixed
      ? [fixed]
      : [...this.#templates.values()].filter((template) => template.pattern.test(path));
    const methods = new Set(fitting.flatMap((template) => [...template.methods]));
    const hasOptions = methods.has('OPTIONS');
    if (methods.size > 0) methods.add('OPTIONS');
    return {
      methods: [...methods].sort((one, other) => order.indexOf(one) - order.indexOf(other)),
      hasOptions,
    };
  }

  /** Whether a path has routes of its own, but none for the method. */
  #isTaken({ url, method }: FastifyRequest): boolean {
    return this.#templates.get(pathOf(url))?.methods.has(method) === false;
  }
}

/** Why no route takes a request: 405, with `Allow` set, where the path has other methods, else 404. */
export function unknownRoute(routes: KnownRoutes, request: FastifyRequest, reply: FastifyReply): AppError {
  const { methods } = routes.at(request.url);
  if (methods.length === 0) return new AppError('not_found', 'There is nothing at this address.');
  reply.header('allow', methods.join(', '));
  return new AppError('method_not_allowed', `${request.method} is not supported here.`);
}

function patternOf(template: string): RegExp {
  const source = template
    .replace(/[.+?^${}|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replace(/:\w+(\([^)]*\))?/g, '[^/]+');
  return new RegExp(`^${source}$`);
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
