import type { IncomingMessage, ServerResponse } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { AppError, notFound, toAppError } from '#kit/base/errors.ts';
import type { TSchema } from '#kit/base/schema.ts';
import { productVersion } from '#kit/base/version.ts';
import { compileValidator } from '#kit/http/validation/validator.ts';
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
  description: 'Finds passages of the indexed documents, best first, with the place of each in its document.',
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

/** Answers one message of a client, and ends when the client goes away. */
export async function answerMcp(
  { request, response, body }: { request: IncomingMessage; response: ServerResponse; body: unknown },
  turns: TurnRegistry,
  asker: Client,
): Promise<void> {
  const gone = new AbortController();
  const server = createServer(turns, asker, gone.signal);
  const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
  response.once('close', () => {
    gone.abort();
    void transport.close();
    void server.close();
  });
  // The SDK's own class has properties that may be undefined where its interface has optional ones.
  await server.connect(transport as Parameters<typeof server.connect>[0]);
  await transport.handleRequest(request, response, body);
}

function createServer(turns: TurnRegistry, asker: Client, signal: AbortSignal): McpServer {
  const mcp = new McpServer(
    { name: 'octavo-chat', version: productVersion() },
    { capabilities: { tools: {} } },
  );
  const { domain } = turns.parts;
  const own = domain ? domainTools : [];
  mcp.server.setRequestHandler(ListToolsRequestSchema, async () => {
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
  mcp.server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
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
  return mcp;
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
