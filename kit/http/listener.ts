import type { IncomingMessage, RequestListener, Server } from 'node:http';
import type { Door } from './door.ts';
import { http } from './node-http.ts';
import type { Limits } from './options.ts';
import { HttpResponse } from './response.ts';

/** A Node server whose requests pass the door before they reach `route`. */
export function createListener(limits: Limits, door: Door, route: RequestListener): Server {
  const server = http.createServer(
    {
      ServerResponse: HttpResponse,
      IncomingMessage: http.IncomingMessage,
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1_000, limits.headersTimeoutMs),
      requireHostHeader: false,
      optimizeEmptyRequests: true,
    },
    enter,
  );
  server.on('checkContinue', (request: IncomingMessage, response: HttpResponse) => {
    // The body is asked for when somebody begins to read it, so that a refusal saves sending it.
    request.on('newListener', function ask(event) {
      if (event !== 'data' && event !== 'readable') return;
      request.off('newListener', ask);
      if (!response.headersSent) response.writeContinue();
    });
    enter(request, response);
  });
  server.on('checkExpectation', enter);
  return server;

  function enter(request: IncomingMessage, response: HttpResponse): void {
    if (door(request, response)) route(request, response);
  }
}
