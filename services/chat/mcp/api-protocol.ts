import { once } from 'node:events';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { TSchema } from '@octavo/core';
import { AppError, notFound, productVersion, toAppError } from '@octavo/core';
import { compileValidator } from '@octavo/web/validation';
import { strategyIds } from '../retrieval/index.ts';
import { domainTools, ToolCalls } from '../tools/index.ts';
import {
  type Client,
  queryMax,
  searchPassages,
  type TurnRegistry,
  toQuestionRequest,
} from '../turns/index.ts';

const searchTool = {
  name: 'search_documents',
  description:
    'Finds passages of the indexed documents, best first, with the place of each in its document, and in `best` the sentence, row or entry that comes closest to the query.',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, maxLength: queryMax },
      strategy: { type: 'string', enum: [...strategyIds] },
      top_k: { type: 'integer', minimum: 1, maximum: 20 },
    },
    required: ['query'],
    additionalProperties: false,
  },
} as const;

/** Validators of each tool's parameters, as they are listed. */
const validators = new Map(
  [searchTool, ...domainTools.map(({ name, parameters }) => ({ name, inputSchema: parameters }))].map(
    ({ name, inputSchema }) => {
      const validate = compileValidator(inputSchema as TSchema);
      return [name, { known: Object.keys(inputSchema.properties), validate }] as const;
    },
  ),
);

/** A message of a client, as it came by HTTP. */
export interface McpMessage {
  readonly headers: Headers;
  readonly body: unknown;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}

/** Answers one message of a client. */
export async function answerMcp(
  { headers, body, signal }: McpMessage,
  turns: TurnRegistry,
  asker: Client,
): Promise<Response> {
  const server = createServer(turns, asker, signal);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  try {
    const request = new Request('http://chat/mcp', { method: 'POST', headers });
    // A message that its sender cancels is never answered.
    return await Promise.race([transport.handleRequest(request, { parsedBody: body }), gone(signal)]);
  } finally {
    await server.close();
  }
}

/** Throws `canceled` when a signal aborts. */
async function gone(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw new AppError('canceled', 'The client is gone.');
}

function createServer(turns: TurnRegistry, asker: Client, signal: AbortSignal): Server {
  const server = new Server(
    { name: 'octavo-chat', version: productVersion() },
    { capabilities: { tools: {} } },
  );
  const { domain } = turns.parts;
  const own = domain ? domainTools : [];
  server.setRequestHandler(ListToolsRequestSchema, async () => {
    const listed = own.map(({ name, description, parameters }) => ({
      name,
      description,
      annotations: { readOnlyHint: true },
      inputSchema: {
        ...parameters,
        properties: { ...parameters.properties },
        required: [...(parameters.required ?? [])],
      },
    }));
    return { tools: [{ ...searchTool, annotations: { readOnlyHint: true } }, ...listed] };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const given = params.arguments ?? {};
    try {
      checkArguments(params.name, given);
      if (params.name === searchTool.name) return asResult(await search(turns, asker, given));
      const calls = new ToolCalls({ api: domain?.api, signal, onStep: () => {} });
      const { step, rows } = await calls.call(params.name, given, {
        reason: 'A client of MCP asked for it.',
      });
      return step.status === 'error'
        ? failed(step.error ?? 'The call failed.')
        : asResult({ results: rows, truncated: step.truncated });
    } catch (error) {
      return failed(toAppError(error).message);
    }
  });
  return server;
}

/** Throws `validation_failed` for arguments that a tool does not take, with all of them in the message. */
function checkArguments(tool: string, given: Readonly<Record<string, unknown>>): void {
  const { known, validate } = validators.get(tool) ?? {};
  if (!known || !validate) throw notFound('tool', tool);
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  const { fields = {} } = validate({ ...given });
  const problems = [
    ...Object.entries(fields).map(([name, problem]) => `${name} ${problem}`),
    ...unknown.map((name) => `${name} is unknown`),
  ];
  if (problems.length > 0) throw new AppError('validation_failed', `${problems.join('; ')}.`);
}

async function search({ parts }: TurnRegistry, { owner }: Client, given: Readonly<Record<string, unknown>>) {
  const { top_k: topK = 5, ...asked } = given as { query: string; strategy?: string; top_k?: number };
  const { ranked } = await searchPassages(parts, { ...toQuestionRequest(asked), topK }, owner, undefined);
  return { results: ranked.map(({ source, passage }) => ({ ...source, text: passage.text })) };
}

function asResult(value: Readonly<Record<string, unknown>>): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { ...value } };
}

function failed(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}
