import type { FastifyReply, FastifyRequest } from 'fastify';
import { type GraphQLError, getOperationAST } from 'graphql';
import { createHandler } from 'graphql-sse/lib/use/fastify';
import type { Log } from '#kit/log.ts';
import { toClientError } from './errors.ts';
import { type Execution, formatResult } from './execution.ts';
import { mediaType } from './media-types.ts';
import { prepare } from './prepare.ts';
import type { GraphqlContext } from './resolvers.ts';

/** Answers by server-sent events (https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md, distinct connections). */
export function createEventStream(
  execution: Execution,
  contextOf: (request: FastifyRequest) => GraphqlContext,
  log: Log,
) {
  const format = (error: GraphQLError) => toClientError(error, log);
  const stream = createHandler({
    onSubscribe: async (request, params) => {
      const prepared = prepare(execution, params as never, () => contextOf(request.raw as never));
      // The library takes a list for a response of its own, so errors are an event.
      if (!('document' in prepared)) return refusal(prepared) as never;
      const { document, operationName, contextValue } = prepared;
      try {
        await contextValue.commanders.claim(getOperationAST(document, operationName));
        return prepared as never;
      } catch (error) {
        return refusal([toClientError(error as Error, log)]) as never;
      }
    },
    execute: (args) => execution.execute(args as never) as never,
    onNext: (_context, _request, result) => formatResult(result as never, format) as never,
  });
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    // The library compares the whole header.
    request.headers.accept = mediaType.eventStream;
    reply.hijack();
    try {
      await stream(request, reply);
    } catch (error) {
      log.error({ err: error }, 'a GraphQL event stream failed');
      reply.raw.destroy();
    }
  };
}

async function* refusal(errors: readonly GraphQLError[]) {
  yield { errors };
}
