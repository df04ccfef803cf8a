import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode, Static, TSchema } from '@octavo/core';
import type {
  ContextConfigDefault,
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRegister,
  FastifyReply,
  FastifySchema,
  FastifyTypeProvider,
  RawServerDefault,
  RouteGenericInterface,
  RouteHandlerMethod,
  RouteOptions,
  RouteShorthandOptions,
} from 'fastify';

/** Access to a route: everybody, or callers that the hooks of a rule let through. */
export type Access = 'public' | AccessRule;

type Hooks = Pick<RouteShorthandOptions, 'onRequest' | 'preValidation' | 'preHandler'>;

/** One kind of access: its name in the API document, and the hooks that reject everybody else with an `AppError`. */
export interface AccessRule extends Hooks {
  /** Security requirements of OpenAPI 3.1, such as `[{ bearer: [] }]`; with an empty object among them they are optional. */
  readonly security: readonly Readonly<Record<string, string[]>>[];
  /** Errors of its hooks besides those that follow from required security, for `/openapi.json`. */
  readonly errors?: readonly ErrorCode[];
}

/** Declarations that every route needs besides its path, schema and handler. */
export interface DeclaresAccess {
  readonly access: Access;
}

/** Derives the types of request parts and responses from their TypeBox schemas. */
export interface TypeBoxTypeProvider extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  /** A body, or the reply after a handler has sent a stream with it. */
  readonly serializer: BodyOf<this['schema']> | FastifyReply;
}

/** The body that a response schema describes; any of its bodies if it has several media types. */
type BodyOf<S> = S extends { readonly content: infer C }
  ? {
      [Type in keyof C]: C[Type] extends { readonly schema: infer T extends TSchema } ? Static<T> : unknown;
    }[keyof C]
  : S extends TSchema
    ? Static<S>
    : unknown;

/** Fastify's own instance, with schemas as TypeBox types. */
export type FastifyApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

type Methods = 'get' | 'head' | 'post' | 'put' | 'patch' | 'delete' | 'options' | 'all';

/** Fastify's shorthand methods, with access among the options. */
type RouteMethod = <
  RouteGeneric extends RouteGenericInterface = RouteGenericInterface,
  ContextConfig = ContextConfigDefault,
  const Schema extends FastifySchema = FastifySchema,
>(
  path: string,
  options: RouteShorthandOptions<
    RawServerDefault,
    IncomingMessage,
    ServerResponse,
    RouteGeneric,
    ContextConfig,
    Schema,
    TypeBoxTypeProvider
  > &
    DeclaresAccess,
  handler: RouteHandlerMethod<
    RawServerDefault,
    IncomingMessage,
    ServerResponse,
    RouteGeneric,
    ContextConfig,
    Schema,
    TypeBoxTypeProvider
  >,
) => HttpApp;

/** Registers a scope of routes and hooks, or a Fastify plugin. */
type Register = ((
  scope: (app: HttpApp) => Promise<void>,
  options?: { readonly prefix: string },
) => PromiseLike<undefined>) &
  FastifyRegister<PromiseLike<undefined>>;

/** A Fastify instance on which a route without declared access does not compile, and throws when it is added. */
export interface HttpApp
  extends Omit<FastifyApp, Methods | 'route' | 'register'>,
    Record<Methods, RouteMethod> {
  route(options: RouteOptions & DeclaresAccess): HttpApp;
  register: Register;
}

/**
 * Puts the hooks of each route's access before its own hooks, and its security into the route's schema. Throws for a route
 * without declared access, which a plugin could add.
 */
export function enforceAccess(app: FastifyApp): void {
  app.addHook('onRoute', (route: RouteOptions & Partial<DeclaresAccess>) => {
    const { access, method, url } = route;
    if (access === undefined) throw new Error(`the route ${method} ${url} does not declare its access`);
    if (access === 'public') return;
    const { security, errors = [], ...hooks } = access;
    route.schema = { ...route.schema, security } as FastifySchema;
    if (errors.length > 0)
      route.config = { ...route.config, errors: [...errors, ...(route.config?.errors ?? [])] };
    for (const name of ['onRequest', 'preValidation', 'preHandler'] as const) {
      const own = [route[name] ?? []].flat();
      if (hooks[name]) Object.assign(route, { [name]: [hooks[name], ...own].flat() });
    }
  });
}
