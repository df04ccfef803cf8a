import { Type } from '@octavo/core';
import type { HttpApp } from '@octavo/web/server';
import type { FastifyRequest } from 'fastify';
import type { Gate } from '../gate/index.ts';
import { routes } from '../routes.ts';
import type { TurnRegistry } from '../turns/index.ts';

/** A client that takes JSON gets it; the SDK wants both kinds to be named, though nothing is ever streamed. */
const takesJson = /(?:^|[\s,])(?:\*\/\*|application\/(?:\*|json))\s*(?:[,;]|$)/i;

/** Errors of the protocol have the form of JSON-RPC. */
const ProtocolError = Type.Unknown({ description: 'An error of JSON-RPC, or of this API' });

export interface McpParts {
  readonly turns: TurnRegistry;
  readonly gate: Gate;
}

/** Offers retrieval and the tools of the domain API over MCP (Streamable HTTP without sessions). The SDK is loaded at the first message. */
export function addMcpApi(app: HttpApp, { turns, gate }: McpParts): void {
  app.post(
    routes.mcp,
    {
      access: gate.access('read', { isForPages: false }),
      schema: {
        tags: ['MCP'],
        summary: 'Model Context Protocol, over Streamable HTTP',
        description:
          'Takes one message of JSON-RPC 2.0 and returns the response. `tools/list` names the tools: `search_documents`, and those of the domain API.',
        body: Type.Unknown(),
        response: {
          200: Type.Unknown(),
          202: Type.Null({ description: 'A notification was taken' }),
          400: ProtocolError,
          406: ProtocolError,
          415: ProtocolError,
        },
      },
    },
    async (request, reply) => {
      const { answerMcp } = await import('./api-protocol.ts');
      const asker = { owner: gate.ownerOf(request), client: gate.clientOf(request) };
      const gone = new AbortController();
      reply.raw.once('close', () => gone.abort());
      const message = { headers: headersOf(request), body: request.body, signal: gone.signal };
      const response = await answerMcp(message, turns, asker);
      reply.code(response.status as 200).headers(Object.fromEntries(response.headers));
      return reply.send((await response.text()) || undefined);
    },
  );
}

function headersOf({ headers: given }: FastifyRequest): Headers {
  const headers = new Headers();
  for (const name of ['content-type', 'mcp-protocol-version', 'mcp-session-id']) {
    const value = given[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  const { accept = '*/*' } = given;
  headers.set('accept', takesJson.test(accept) ? 'application/json, text/event-stream' : accept);
  return headers;
}
