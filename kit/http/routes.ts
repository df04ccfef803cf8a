import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
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

  /** Notes every route that is added from now on. */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url, method }) => {
      const known = this.#templates.get(url) ?? { pattern: patternOf(url), methods: new Set() };
      for (const each of [method].flat()) known.methods.add(each);
      this.#templates.set(url, known);
    });
  }

  /** A path belongs to each template that it fits, as in the router itself. */
  at(url: string): MethodsAt {
    const path = pathOf(url);
    const fitting = [...this.#templates.values()].filter((template) => template.pattern.test(path));
    const methods = new Set(fitting.flatMap((template) => [...template.methods]));
    const hasOptions = methods.has('OPTIONS');
    if (methods.size > 0) methods.add('OPTIONS');
    return {
      methods: [...methods].sort((one, other) => order.indexOf(one) - order.indexOf(other)),
      hasOptions,
    };
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
    .replace(/:\w+(\([^)]*\))?/g, '[^/]*?');
  return new RegExp(`^${source}$`);
}

function pathOf(url: string): string {
  const path = url.split(/[?#;]/, 1)[0] ?? url;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
