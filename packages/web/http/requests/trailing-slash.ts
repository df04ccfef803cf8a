import type { FastifyReply, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify';
import type { HttpApp } from '../server.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Marks a route that stands in for the one with a slash at its end. */
    standsIn?: true;
  }
}

/**
 * Lets every route that is added to a scope from now on, and whose path ends in `/`, be reached without it: `GET` and `HEAD` are
 * redirected with 301, other methods are served, because a redirect would lose their body.
 * @param prefix only of paths that start with it
 */
export function addTrailingSlashes(scope: HttpApp, prefix = '/'): void {
  const redirected = new Set<string>();
  scope.addHook('onRoute', function (this, route) {
    const { url, routePath, method, config } = route;
    if (
      config?.standsIn ||
      config?.allow !== undefined ||
      !routePath.endsWith('/') ||
      routePath === '/' ||
      !url.startsWith(prefix)
    )
      return;
    const app = this as unknown as HttpApp;
    const hidden = {
      access: 'public',
      schema: { ...route.schema, hide: true },
      config: { ...config, standsIn: true },
    } as const;
    const path = routePath.slice(0, -1);
    const writes = [method].flat().filter((each) => each !== 'GET' && each !== 'HEAD') as HTTPMethods[];
    // A scope inside another one that does the same has them already.
    if (app.hasRoute({ url: url.slice(0, -1), method: writes[0] ?? 'GET' })) return;
    // The access of the route is among its hooks already.
    if (writes.length > 0) app.route({ ...(route as RouteOptions), ...hidden, url: path, method: writes });
    if (redirected.has(url)) return;
    redirected.add(url);
    app.route({ ...hidden, schema: { hide: true }, url: path, method: 'GET', handler: redirect });
  });
}

function redirect(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [path = '', query] = (request.raw.url as string).split(/\?(.*)/s);
  return reply
    .code(301)
    .header('location', query === undefined ? `${path}/` : `${path}/?${query}`)
    .send();
}
