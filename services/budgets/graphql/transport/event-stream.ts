import type { Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ExecutionResult, type GraphQLError, getOperationAST, subscribe } from 'graphql';
import { createHandler } from 'graphql-sse/lib/use/fastify';
import { toClientError } from '../errors.ts';
import { type Execution, formatResult } from '../execution.ts';
import type { GraphqlContext } from '../resolvers.ts';
import { mediaType } from './media-types.ts';

export interface EventStreamOptions {
  readonly execution: Execution;
  readonly contextOf: (request: FastifyRequest) => GraphqlContext;
  readonly log: Log;
  /** Ends streams when the service stops. */
  readonly stopping: AbortSignal;
}

/**
 * Answers by server-sent events (https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md, distinct connections). A subscription
 * that does not end by itself ends with an event `error` that says why.
 */
export function createEventStream({ execution, contextOf, log, stopping }: EventStreamOptions) {
  const format = (error: GraphQLError) => toClientError(error, log);
  const stream = createHandler({
    onSubscribe: async (request, params) => {
      const prepared = execution.prepare(params, () => contextOf(request.raw));
      // The library takes a list for a response of its own, so errors are an event.
      if (!('document' in prepared)) return refusal(prepared);
      const { document, operationName, contextValue } = prepared;
      try {
        await contextValue.commanders.claim(getOperationAST(document, operationName));
        return prepared as never;
      } catch (error) {
        return refusal([toClientError(error as Error, log)]);
      }
    },
    execute: (args) => execution.execute(args),
    subscribe: async (args) => {
      const result = await subscribe(args);
      return Symbol.asyncIterator in result ? untilStop(result, stopping) : result;
    },
    onNext: (_context, _request, result) => formatResult(result as never, format) as never,
  });
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    // The library compares the whole header.
    request.headers.accept = mediaType.eventStream;
    reply.request.leaveFlight();
    reply.hijack();
    keepUntransformed(reply);
    try {
      await stream(request, reply);
    } catch (error) {
      if (reply.raw.destroyed) return;
      const told = JSON.stringify([toClientError(error as Error, log)]);
      reply.raw.end(`event: error\ndata: ${told}\n\n`);
    }
  };
}

/** A proxy that compresses would hold events back; the library lets it. */
function keepUntransformed({ raw }: FastifyReply): void {
  const write = raw.writeHead.bind(raw);
  raw.writeHead = ((status: number, text: string, headers: Record<string, string>) =>
    write(status, text, { ...headers, 'cache-control': 'no-store, no-transform' })) as typeof raw.writeHead;
}

async function* refusal(errors: readonly GraphQLError[]) {
  yield { errors };
}

/** The results, and then an error that says why there are no more. */
function untilStop(
  results: AsyncGenerator<ExecutionResult>,
  stopping: AbortSignal,
): AsyncIterableIterator<ExecutionResult> {
  let hasLeft = false;
  const end = () => void results.return(undefined);
  stopping.addEventListener('abort', end);
  const leave = () => {
    hasLeft = true;
    stopping.removeEventListener('abort', end);
  };
  return {
    async next() {
      const result = await results.next();
      if (!result.done || hasLeft) return result;
      leave();
      throw stopping.aborted
        ? new AppError('unavailable', 'The service is stopping. Subscribe again.')
        : new AppError('unauthenticated', 'The session has ended. Log in again.');
    },
    return() {
      leave();
      return results.return(undefined);
    },
    throw(error: unknown) {
      leave();
      return results.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
