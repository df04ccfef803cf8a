import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import { createHandler, parseRequestParams, type Request, type Response } from 'graphql-http';
import { AppError } from '#kit/base/errors.ts';
import type { Log } from '#kit/base/log.ts';
import type { AccessRule } from '#kit/http/access.ts';
import type { HttpApp } from '#kit/http/server.ts';
import { refuseForeignOrigin } from '#kit/http/web-sockets.ts';
import { IdempotencyHeader } from '#kit/rest/idempotency-key.ts';
import type { SignedIn } from '../authentication/index.ts';
import { toClientError } from './errors.ts';
import { createSchema } from './executable-schema.ts';
import { Execution } from './execution.ts';
import { addGraphiql, type Graphiql } from './graphiql.ts';
import { createLoaders, type Loaders } from './loaders.ts';
import { MutationCallers } from './mutation-callers.ts';
import type { GraphqlContext } from './resolvers.ts';
import { createEventStream, type EventStreamOptions } from './transport/event-stream.ts';
import { errorResponses, sendGraphqlError } from './transport/http-errors.ts';
import { takesEventStream } from './transport/media-types.ts';
import { createSocketHandler } from './transport/sockets.ts';

export const graphqlPath = '/api/graphql';

export interface GraphqlOptions {
  readonly shared: Omit<GraphqlContext, 'caller' | 'loaders' | 'commanders'>;
  readonly access: AccessRule;
  /** The account of a request that the access rule let through. */
  readonly callerOf: (request: FastifyRequest) => SignedIn;
  /** Returns the caller with the Idempotency-Key of the request. */
  readonly commanderOf: (request: FastifyRequest, reply: FastifyReply) => SignedIn;
  readonly authenticate: (token: string) => Promise<SignedIn>;
  /** Throws `rate_limited` if a user makes too many requests. */
  readonly count: (caller: SignedIn) => void;
  /** Introspection and GraphiQL. */
  readonly isExplorable: boolean;
  /** Ends streams when the service stops. */
  readonly stopping: AbortSignal;
  readonly log: Log;
}

/** Adds GraphQL over HTTP, server-sent events and WebSockets at one address. */
export function addGraphql(app: HttpApp, options: GraphqlOptions): void {
  const { access, isExplorable, log, stopping } = options;
  const execution = new Execution(createSchema(), { introspection: isExplorable });
  const contextOf = (caller: SignedIn): GraphqlContext => {
    const { core } = options.shared;
    let loaders: Loaders | undefined;
    return {
      ...options.shared,
      caller,
      // Few operations need them, and a subscription would keep them.
      get loaders() {
        loaders ??= createLoaders(core, caller);
        return loaders;
      },
      commanders: new MutationCallers(core, caller),
    };
  };
  const contextOfRequest = (request: FastifyRequest) => contextOf(options.callerOf(request));
  const handle = createHttpHandler({ execution, contextOf: contextOfRequest, log, stopping });
  const graphiql = isExplorable ? addGraphiql(app) : undefined;
  app.register(async (scope) => {
    scope.setErrorHandler(sendGraphqlError);
    // The caller of a request with an Idempotency-Key wants its mutations to happen once.
    const preHandler = (request: FastifyRequest, reply: FastifyReply, done: () => void) => {
      request.signedIn = options.commanderOf(request, reply);
      done();
    };
    scope.post(graphqlPath, { access, preHandler, schema: postSchema }, handle);
    scope.route({
      method: 'GET',
      url: graphqlPath,
      // A page or a socket without a token is let in: the page asks for one, and the socket signs in by its first message.
      access: {
        security: access.security,
        onRequest: (request, reply) => allowGet(request, reply, { access, graphiql }),
      } as AccessRule,
      schema: getSchema,
      handler: (request, reply) =>
        isForPage(request, graphiql) ? graphiql?.send(reply) : handle(request, reply),
      wsHandler: createSocketHandler({
        execution,
        contextOf,
        log,
        authenticate: options.authenticate,
        count: options.count,
        sessions: options.shared.hub.sessions,
      }),
    });
  });
}

function createHttpHandler(parts: EventStreamOptions) {
  const { execution, contextOf, log } = parts;
  const formatError = (error: Readonly<Error>) => toClientError(error, log);
  const respond = createHandler<FastifyRequest, Exchange, HttpContext>({
    parseRequestParams: parseParams,
    onSubscribe: (request, params) => {
      const prepared = execution.prepare(params, () => contextOf(request.raw) as HttpContext);
      if (!('document' in prepared)) return prepared;
      const operation = getOperationAST(prepared.document, prepared.operationName);
      if (operation?.operation !== 'mutation') return prepared;
      if (request.method === 'GET') return mutationByGet(formatError);
      return prepared.contextValue.commanders.claim(operation).then(() => prepared);
    },
    execute: (args) => execution.execute(args),
    onOperation: ({ context }, _args, result) => withoutData(context, result),
    formatError,
  });
  const stream = createEventStream(parts);
  return async (request: FastifyRequest, reply: FastifyReply) => {
    if (takesEventStream(request)) return stream(request, reply);
    const { method, url, headers, body } = request;
    const exchange: Exchange = {};
    const [text, { status, headers: given }] = await respond({
      method,
      url,
      headers,
      body: body as Record<string, unknown> | null,
      raw: request,
      context: exchange,
    });
    if (status === 415)
      throw new AppError('unsupported_media_type', 'A request must be application/json in UTF-8.');
    return reply
      .code(status)
      .headers(given ?? {})
      .send(exchange.text ?? text ?? '');
  };
}

/** Parses a request. Its errors are the client's and are not logged. */
async function parseParams(request: Request<FastifyRequest, Exchange>) {
  try {
    return await parseRequestParams(request);
  } catch (error) {
    throw new AppError('invalid_input', (error as Error).message, { cause: error });
  }
}

/** The context, as `graphql-http` takes it. */
type HttpContext = GraphqlContext & Record<PropertyKey, unknown>;

/** One request of `graphql-http`. */
interface Exchange {
  /** The body of the response, in place of that of the library. */
  text?: string;
}

/**
 * Writes a result without errors, and gives the library an empty one for its status and headers. The library itself would call a
 * function for each value of the result, which takes four times as long.
 */
function withoutData(exchange: Exchange, result: ExecutionResult): ExecutionResult | undefined {
  if (!result.data || result.errors) return undefined;
  exchange.text = JSON.stringify(result);
  return { data: null };
}

function mutationByGet(formatError: (error: Error) => GraphQLError): Response {
  const errors = [formatError(new GraphQLError('Send mutations by POST.'))];
  const headers = { allow: 'POST', 'content-type': 'application/json; charset=utf-8' };
  return [JSON.stringify({ errors }), { status: 405, statusText: 'Method Not Allowed', headers }];
}

async function allowGet(
  request: FastifyRequest,
  reply: FastifyReply,
  { access, graphiql }: { access: AccessRule; graphiql: Graphiql | undefined },
): Promise<void> {
  if (request.ws) refuseForeignOrigin(request);
  else if (!isForPage(request, graphiql))
    await (access.onRequest as (...given: unknown[]) => Promise<void>)(request, reply);
}

function isForPage({ headers, query }: FastifyRequest, graphiql: Graphiql | undefined): boolean {
  const wantsPage = /\btext\/html\b/.test(headers.accept ?? '') && headers.authorization === undefined;
  return graphiql !== undefined && wantsPage && !('query' in (query as object));
}

const description =
  'GraphQL over HTTP. With `Accept: text/event-stream` a subscription is answered by server-sent events; WebSockets speak graphql-transport-ws.';

const postSchema = {
  operationId: 'graphql',
  summary: 'Run a GraphQL operation',
  description,
  headers: IdempotencyHeader,
  tags: ['GraphQL'],
  response: errorResponses,
  hide: false,
} as const;

const getSchema = {
  operationId: 'graphqlQuery',
  summary: 'Run a GraphQL query',
  description: 'Queries only, in the query parameters query, operationName and variables.',
  tags: ['GraphQL'],
  response: errorResponses,
} as const;
