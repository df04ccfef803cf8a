import { loadOnce } from '@octavo/core/concurrency';
import { IdempotencyHeader } from '@octavo/web/rest';
import type { AccessRule, HttpApp } from '@octavo/web/server';
import { refuseForeignOrigin } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Engine, GraphqlOptions } from './engine.ts';
import { addGraphiql, type Graphiql } from './transport/graphiql.ts';
import { errorResponses, sendGraphqlError } from './transport/http-errors.ts';

export const graphqlPath = '/api/graphql';

/** Adds GraphQL over HTTP, server-sent events and WebSockets at one address. */
export function addGraphql(app: HttpApp, options: GraphqlOptions): void {
  const { access, isExplorable } = options;
  const engine = loadOnce(async () => (await import('./engine.ts')).createEngine(options));
  const handle = async (request: FastifyRequest, reply: FastifyReply) =>
    (await engine()).handle(request, reply);
  let sockets: Engine | undefined;
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
        onRequest: async (request, reply) => {
          await allowGet(request, reply, { access, graphiql });
          // The handler of a socket takes its first message only if it does not wait.
          if (request.ws) sockets = await engine();
        },
      } as AccessRule,
      schema: getSchema,
      handler: (request, reply) =>
        isForPage(request, graphiql) ? graphiql?.send(reply) : handle(request, reply),
      wsHandler: (socket, request) => sockets?.accept(socket, request),
    });
  });
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
