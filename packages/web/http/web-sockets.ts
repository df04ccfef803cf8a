import { AppError } from '@octavo/core';
import type { FastifyRequest } from 'fastify';
import type { HttpApp } from './access.ts';

export interface WebSocketOptions {
  /** A longer message ends the connection with 1009. */
  readonly messageBytesMax: number;
  /** The subprotocols that the service speaks. The first of the client's that is among them is chosen. */
  readonly protocols: readonly string[];
}

/**
 * Lets routes of this scope that are added from now on accept WebSockets (RFC 6455), by `wsHandler` beside `handler`. The hooks of a
 * route run before the upgrade. When the server stops, open sockets are closed with 1001.
 */
export async function acceptWebSockets(
  app: HttpApp,
  { messageBytesMax, protocols }: WebSocketOptions,
): Promise<void> {
  const { default: websocket } = await import('@fastify/websocket');
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.ws) request.leaveFlight();
    done();
  });
  await app.register(websocket, {
    // Malformed frames and lost connections have a code: those are the client's.
    errorHandler(error, socket, { log }) {
      if (typeof (error as NodeJS.ErrnoException).code === 'string') {
        log.debug({ err: error }, 'a WebSocket failed');
        return;
      }
      log.error({ err: error }, 'a WebSocket failed');
      socket.terminate();
    },
    options: {
      maxPayload: messageBytesMax,
      clientTracking: true,
      handleProtocols: (given: Set<string>) => protocols.find((protocol) => given.has(protocol)) ?? false,
    },
    preClose(done) {
      for (const socket of this.websocketServer.clients) socket.close(1001, 'The server is stopping.');
      this.websocketServer.close(() => done());
    },
  });
}

/**
 * Throws `forbidden` for a WebSocket that a page of another origin opens: browsers let pages connect anywhere, and tell the origin.
 * Clients that are no browsers send none.
 */
export function refuseForeignOrigin({ headers }: FastifyRequest): void {
  const { origin, host } = headers;
  if (origin === undefined || URL.parse(origin)?.host === host) return;
  throw new AppError('forbidden', 'WebSockets are only for pages of this site.');
}
