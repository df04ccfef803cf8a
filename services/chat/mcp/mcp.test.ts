import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startChat } from '../testing.ts';
import { startModel } from '../testing-model.ts';

const model = await startModel();
const library = await startChat();
const chat = await startChat({
  environment: {
    LLM_BASE_URL: model.url,
    LLM_MODEL: 'scripted',
    CHAT_MCP_SERVERS: `library=${library.url}/mcp`,
    GATEWAY_AUTH: 'api_key',
    CHAT_API_KEYS: 'alice',
  },
});
after(async () => {
  await chat[Symbol.asyncDispose]();
  await library[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});
await library.upload([{ name: 'ships.txt', content: 'The ferry Gullfoss sails on Mondays.' }]);

async function connect(url: string, headers: Record<string, string> = {}) {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  return client;
}

test('the official client lists tools and searches documents', async () => {
  const client = await connect(library.url);
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['search_documents'],
  );
  const { structuredContent } = await client.callTool({
    name: 'search_documents',
    arguments: { query: 'Gullfoss' },
  });
  const { results } = structuredContent as { results: { text: string }[] };
  assert.equal(results[0]?.text, 'The ferry Gullfoss sails on Mondays.');
  assert.equal((await client.callTool({ name: 'nothing' })).isError, true);
  await client.close();
});

test('bad arguments are errors that name them', async () => {
  const client = await connect(library.url);
  const cases: [Record<string, unknown>, RegExp][] = [
    [{}, /query is required/],
    [{ query: '' }, /query/],
    [{ query: '   ' }, /query must not be empty/],
    [{ query: 7 }, /query must be a string/],
    [{ query: 'x'.repeat(4_001) }, /query must .* 4000 characters/],
    [{ query: 'Gullfoss', strategy: 'magic' }, /strategy must be one of/],
    [{ query: 'Gullfoss', strategy: 1 }, /strategy/],
    [{ query: 'Gullfoss', top_k: 21 }, /top_k must be at most 20/],
    [{ query: 'Gullfoss', top_k: 1.5 }, /top_k must be a whole number/],
    [{ query: 'Gullfoss', topK: 3 }, /topK is unknown/],
  ];
  for (const [given, problem] of cases) {
    const { isError, content } = await client.callTool({ name: 'search_documents', arguments: given });
    const [text] = content as { text: string }[];
    assert.equal(isError, true, JSON.stringify(given));
    assert.match(String(text?.text), problem);
  }
  const unknown = await client.callTool({ name: 'get_team', arguments: { boss: 'yes' } });
  assert.match(JSON.stringify(unknown), /boss is unknown/);
  const one = await client.callTool({ name: 'search_documents', arguments: { query: 'Gullfoss', top_k: 1 } });
  assert.equal((one.structuredContent as { results: unknown[] }).results.length, 1);
  await client.close();
});

test('a client that takes JSON, or anything, is answered, and told of nothing that never comes', async () => {
  const { url } = library;
  interface Reply {
    readonly result: { readonly capabilities: object; readonly tools: readonly { readonly name: string }[] };
    readonly error: { readonly code: number };
  }
  const jsonOf = async (response: Response) => (await response.json()) as Reply;
  const send = (body: object, accept?: string) =>
    fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(accept !== undefined && { accept }) },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
    });
  const initialize = {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  };
  for (const accept of [
    undefined,
    'application/json',
    '*/*',
    'application/*;q=0.8',
    'application/json, text/event-stream',
  ]) {
    const response = await send(initialize, accept);
    assert.equal(response.status, 200, accept ?? 'none');
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
    assert.deepEqual((await jsonOf(response)).result.capabilities, { tools: {} });
    const listed = await send({ id: 2, method: 'tools/list' }, accept);
    assert.equal((await jsonOf(listed)).result.tools[0]?.name, 'search_documents');
  }
  for (const accept of ['text/event-stream', 'text/html', 'application/jsonl'])
    assert.equal((await send(initialize, accept)).status, 406, accept);
  const told = await send({ method: 'notifications/initialized' }, 'application/json');
  assert.deepEqual([told.status, await told.text()], [202, '']);
  const failed = await jsonOf(await send({ id: 3, method: 'resources/list' }, '*/*'));
  assert.equal(failed.error.code, -32601);
});

test('strangers are refused', async () => {
  await assert.rejects(connect(chat.url), /401|unauthorized/i);
  await (await connect(chat.url, { 'x-api-key': 'alice' })).close();
});

test('a model calls the tools of added servers', async () => {
  model.script = (answer, { messages, tools }) => {
    assert.deepEqual(
      tools?.map((tool) => tool.function.name),
      ['library_search_documents'],
    );
    if (messages.at(-1)?.role === 'tool') answer.text('It sails on Mondays [A1].').end();
    else answer.callTool('library_search_documents', { query: 'Gullfoss' });
  };
  const headers = { 'x-api-key': 'alice' };
  const { json: turn } = await chat.send('POST', '/api/chat', { query: 'When does it sail?' }, headers);
  assert.equal(turn.answer, 'It sails on Mondays [A1].');
  assert.deepEqual(turn.metadata.unsupported, []);
  assert.deepEqual(
    [turn.api_chain_trace[0].tool, turn.api_chain_trace[0].status],
    ['library_search_documents', 'ok'],
  );
  const { json } = await chat.send('GET', '/api/tools', undefined, headers);
  assert.equal(json.tools.at(-1).source, 'mcp');
});
