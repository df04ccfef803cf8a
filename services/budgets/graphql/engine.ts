import type { Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { AccessRule } from '@octavo/web/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ExecutionResult, GraphQLError, getOperationAST } from 'graphql';
import { createHandler, parseRequestParams, type Request, type Response } from 'graphql-http';
import type { WebSocket } from 'ws';
import type { SignedIn } from '../authentication/index.ts';
import { toClientError } from './errors.ts';
import { createSchema } from './executable-schema.ts';
import { Execution } from './execution.ts';
import { createLoaders, type Loaders } from './loaders.ts';
import { MutationCallers } from './mutation-callers.ts';
import type { GraphqlContext } from './resolvers.ts';
import { createEventStream, type EventStreamOptions } from './transport/event-stream.ts';
import { takesEventStream } from './transport/media-types.ts';
import { createSocketHandler } from './transport/sockets.ts';

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

/** Runs operations. */
export interface Engine {
  /** Answers a request by JSON or server-sent events. */
  handle(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** Takes a WebSocket that was just opened. */
  accept(socket: WebSocket, request: FastifyRequest): void;
}

/** Makes what runs operations. Import this module with the first of them: it loads GraphQL and its compiler, some 250 modules. */
export function createEngine(options: GraphqlOptions): Engine {
  const { isExplorable, log, stopping } = options;
  const execution = new Execution(createSchema(), { introspection: isExplorable });
  const contextOf = (caller: SignedIn): GraphqlContext => {
    const { context } = options.shared;
    let loaders: Loaders | undefined;
    return {
      ...options.shared,
      caller,
      // Few operations need them, and a subscription would keep them.
      get loaders() {
        loaders ??= createLoaders(context, caller);
        return loaders;
      },
      commanders: new MutationCallers(context, caller),
    };
  };
  const contextOfRequest = (request: FastifyRequest) => contextOf(options.callerOf(request));
  return {
    handle: createHttpHandler({ execution, contextOf: contextOfRequest, log, stopping }),
    accept: createSocketHandler({
      execution,
      contextOf,
      log,
      authenticate: options.authenticate,
      count: options.count,
      sessions: options.shared.hub.sessions,
    }),
  };
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
