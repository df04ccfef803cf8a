import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Clock, Log } from '@octavo/core';
import { boundedFetch, productVersion } from '@octavo/core';
import type { ToolOffer } from '../model/index.ts';
import type { ApiRecord, ToolCalls } from '../tools/index.ts';

const freshMs = 60_000;
const listMs = 3_000;
const textMax = 20_000;
const toolsMax = 40;
const responseBytesMax = 2 * 1024 * 1024;

/** A tool of an MCP server, under a name that begins with that of its server. */
export interface ForeignTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

interface Known {
  readonly tools: readonly ForeignTool[];
  readonly atMs: number;
}

/** The MCP servers that the operator added, whose tools a model may call. */
export class McpServers {
  readonly #servers: ReadonlyMap<string, URL>;
  readonly #clock: Clock;
  readonly #log: Log;
  #known: Known | undefined;

  constructor(servers: ReadonlyMap<string, URL>, { clock, log }: { clock: Clock; log: Log }) {
    this.#servers = servers;
    this.#clock = clock;
    this.#log = log;
  }

  /** The tools of all servers that answer, kept for a minute. */
  async tools(): Promise<readonly ForeignTool[]> {
    if (this.#known && this.#clock.now() - this.#known.atMs < freshMs) return this.#known.tools;
    const lists = await Promise.all([...this.#servers.keys()].map((name) => this.#list(name)));
    const tools = lists.flat().slice(0, toolsMax);
    this.#known = { tools, atMs: this.#clock.now() };
    return tools;
  }

  /** The tools as a model is offered them, under the budget of a turn. */
  async offers(calls: ToolCalls): Promise<readonly ToolOffer[]> {
    return (await this.tools()).map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
      call: async (params) => {
        const foreign = {
          name,
          call: (given: object, signal: AbortSignal) => this.#call(name, given, signal),
        };
        const { step, rows } = await calls.callForeign(foreign, params, {
          reason: 'The model asked for it.',
        });
        return { cite_as: `[A${step.step}]`, status: step.status, results: rows };
      },
    }));
  }

  async #list(server: string): Promise<readonly ForeignTool[]> {
    try {
      return await this.#connected(server, async (client) => {
        const { tools } = await client.listTools({}, { timeout: listMs });
        return tools.map(({ name, description = '', inputSchema }) => ({
          name: `${server}_${name}`.slice(0, 64),
          description: description.slice(0, 1_000),
          parameters: inputSchema as Readonly<Record<string, unknown>>,
        }));
      });
    } catch (error) {
      this.#log.warn({ server, cause: String(error) }, 'an MCP server does not list its tools');
      return [];
    }
  }

  #call(name: string, params: object, signal: AbortSignal): Promise<readonly ApiRecord[]> {
    const server = [...this.#servers.keys()].find((each) => name.startsWith(`${each}_`)) ?? '';
    return this.#connected(server, async (client) => {
      const call = { name: name.slice(server.length + 1), arguments: { ...params } };
      const result = await client.callTool(call, undefined, { signal, timeout: listMs });
      if (result.isError) throw new Error('the tool failed');
      if (result.structuredContent) return [result.structuredContent as ApiRecord];
      const content = (result.content ?? []) as { type: string; text?: string }[];
      return content.flatMap(({ type, text = '' }) =>
        type === 'text' ? [{ text: text.slice(0, textMax) }] : [],
      );
    });
  }

  async #connected<T>(server: string, work: (client: Client) => Promise<T>): Promise<T> {
    const url = this.#servers.get(server);
    if (!url) throw new Error(`there is no MCP server ${server}`);
    const sdk = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = await import(
      '@modelcontextprotocol/sdk/client/streamableHttp.js'
    );
    const client = new sdk.Client({ name: 'octavo-chat', version: productVersion() });
    const transport = new StreamableHTTPClientTransport(url, {
      requestInit: { redirect: 'error' },
      fetch: boundedFetch(responseBytesMax),
    });
    try {
      await client.connect(transport as Parameters<typeof client.connect>[0], { timeout: listMs });
      return await work(client);
    } finally {
      await client.close();
    }
  }
}

/** Reads `name=address,name=address`. Throws an `Error` that starts with "must be". */
export function parseServers(text: string): Map<string, URL> {
  const servers = text.split(',').map((entry) => {
    const [, name = '', address = ''] = /^\s*([a-z][a-z0-9_]{0,19})=(\S+)\s*$/.exec(entry) ?? [];
    const url = URL.parse(address);
    if (!url || !/^https?:$/.test(url.protocol)) throw new Error('must be name=address, with commas between');
    return [name, url] as const;
  });
  return new Map(servers);
}
