import type { Log } from '@octavo/core';
import { AppError } from '@octavo/core';
import { bearerToken } from '@octavo/core/auth';
import { runEvery } from '@octavo/core/concurrency';
import { keepNumberText } from '@octavo/web/validation';
import type { FastifyRequest } from 'fastify';
import { GraphQLError } from 'graphql';
import { CloseCode, MessageType, makeServer } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { SessionWatch, SignedIn } from '../../authentication/index.ts';
import { toClientError } from '../errors.ts';
import type { Execution } from '../execution.ts';
import type { GraphqlContext } from '../resolvers.ts';

interface Extra {
  readonly request: FastifyRequest;
  readonly socket: WebSocket;
  token?: string;
  stopWatching?: () => void;
}

export interface SocketOptions {
  readonly execution: Execution;
  readonly contextOf: (caller: SignedIn) => GraphqlContext;
  readonly authenticate: (token: string) => Promise<SignedIn>;
  /** Throws `rate_limited` if a user makes too many requests. */
  readonly count: (caller: SignedIn) => void;
  /** Tells that a session has ended. */
  readonly sessions: SessionWatch;
  readonly log: Log;
}

const initTimeoutMs = 10_000;
const pingMs = 30_000;
const tooManyRequests = 4429;

/** Speaks graphql-transport-ws (https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md). */
export function createSocketHandler(options: SocketOptions) {
  const { execution, contextOf, authenticate, count, sessions, log } = options;
  /** Returns the account of an operation: the session may have ended since the connection was opened. */
  const admit = async ({ token = '', socket }: Extra): Promise<SignedIn | undefined> => {
    try {
      const caller = await authenticate(token);
      count(caller);
      return caller;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'rate_limited') socket.close(tooManyRequests, error.message);
      else socket.close(CloseCode.Forbidden, error.message);
      return undefined;
    }
  };
  const server = makeServer<Readonly<Record<string, unknown>>, Extra>({
    schema: execution.schema,
    jsonMessageReviver: keepNumberText,
    connectionInitWaitTimeout: initTimeoutMs,
    onConnect: async ({ connectionParams, extra }) => {
      const given = authorizationIn(connectionParams) ?? extra.request.headers.authorization;
      const token = bearerToken(typeof given === 'string' ? given : undefined);
      if (token === undefined) return false;
      try {
        const caller = await authenticate(token);
        extra.token = token;
        const { socket } = extra;
        if (socket.readyState !== socket.OPEN) return false;
        const end = ({ message }: AppError) => socket.close(CloseCode.Forbidden, message);
        extra.stopWatching = sessions.watch(caller, end);
        return true;
      } catch (error) {
        if (error instanceof AppError) return false;
        throw error;
      }
    },
    onSubscribe: async ({ extra }, _id, request) => {
      const caller = await admit(extra);
      if (!caller) return [sessionEnded()];
      const prepared = execution.prepare(request, () => contextOf(caller));
      return 'document' in prepared ? prepared : prepared.map((error) => toClientError(error, log));
    },
    onComplete: async ({ extra, subscriptions }, id) => {
      // A subscription that the client did not end has ended with its session: the code of the connection says so instead.
      if (subscriptions[id]) await admit(extra);
    },
    onError: (_context, _id, _payload, errors) => errors.map((error) => toClientError(error, log)),
    onNext: (...[, , , , result]) => {
      const { errors } = result;
      return errors ? { ...result, errors: errors.map((error) => toClientError(error, log)) } : result;
    },
  });
  return (socket: WebSocket, request: FastifyRequest): void => {
    const extra: Extra = { request, socket };
    const closed = server.opened(adapt(socket, log), extra);
    const pinging = keepAlive(socket);
    socket.on('error', () => socket.terminate());
    socket.once('close', (code, reason) => {
      pinging[Symbol.dispose]();
      extra.stopWatching?.();
      void closed(code, String(reason));
    });
  };
}

function adapt(socket: WebSocket, log: Log) {
  return {
    protocol: socket.protocol,
    send: (text: string) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      socket.send(text, () => resolve());
      return promise;
    },
    close: (code?: number, reason?: string) => socket.close(code, reason),
    onMessage: (take: (text: string) => Promise<void>) =>
      void socket.on('message', (data) => {
        const text = String(data);
        // The library throws for a message of the server, as if the fault were ours.
        if (isOfServer(text))
          return socket.close(CloseCode.BadRequest, 'Only the server sends this message.');
        take(text).catch((error: unknown) => {
          log.error({ err: error }, 'a GraphQL socket failed');
          socket.close(CloseCode.InternalServerError, 'Something went wrong on our side.');
        });
      }),
  };
}

/** `Authorization` in any spelling, by itself or among `headers`, as the documentation of clients shows it. */
function authorizationIn(params: Readonly<Record<string, unknown>> = {}): unknown {
  const valueIn = (of: object) =>
    Object.entries(of).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
  const { headers } = params;
  return valueIn(params) ?? (typeof headers === 'object' && headers !== null ? valueIn(headers) : undefined);
}

const typesOfServer: readonly unknown[] = [MessageType.ConnectionAck, MessageType.Next, MessageType.Error];

function isOfServer(text: string): boolean {
  try {
    return typesOfServer.includes(JSON.parse(text)?.type);
  } catch {
    return false;
  }
}

function sessionEnded(): GraphQLError {
  return new GraphQLError('The session has ended.', { extensions: { code: 'UNAUTHENTICATED' } });
}

function keepAlive(socket: WebSocket): Disposable {
  let isAlive = true;
  socket.on('pong', () => {
    isAlive = true;
  });
  return runEvery(pingMs, () => {
    if (!isAlive) socket.terminate();
    isAlive = false;
    socket.ping();
  });
}
