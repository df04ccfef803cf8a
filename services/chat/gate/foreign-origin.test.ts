import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { startChat } from '../testing.ts';

const open = await startChat({ environment: { CORS_ORIGIN: 'https://friend.example' } });
const keyed = await startChat({ environment: { GATEWAY_AUTH: 'api_key', CHAT_API_KEYS: 'alice' } });
after(async () => {
  await open[Symbol.asyncDispose]();
  await keyed[Symbol.asyncDispose]();
});

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const routes: readonly (readonly [string, string, object | undefined])[] = [
  ['POST', '/mcp', list],
  ['POST', '/api/chat', { query: 'A ferry?' }],
  ['POST', '/api/search', { query: 'A ferry?' }],
  ['GET', '/api/documents', undefined],
  ['GET', '/v1/models', undefined],
];

/** Sent by hand, as `fetch` sets `Host` itself. */
function statusOf(
  site: string,
  [method, path, body]: (typeof routes)[number],
  headers: Record<string, string>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const type = body ? { 'content-type': 'application/json' } : {};
    const sent = request(new URL(path, site), { method, headers: { ...type, ...headers } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', reject).end(body && JSON.stringify(body));
  });
}

test('a page of another site is refused, also under a name of its own that leads here', async () => {
  const { host, port } = new URL(open.url);
  const foreign: Record<string, string>[] = [
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: 'http://evil.example', host: 'evil.example' },
    { origin: `http://evil.example:${port}`, host: `evil.example:${port}` },
    { origin: `http://127.0.0.1:1` },
    { origin: 'https://friend.example.evil.example' },
  ];
  const own: Record<string, string>[] = [
    {},
    { host: 'chat.example' },
    { origin: open.url },
    { origin: `http://localhost:${port}`, host: `localhost:${port}` },
    { origin: `http://mybox:${port}`, host: `mybox:${port}` },
    { origin: 'https://friend.example' },
    // By a proxy, with the name of the site or with another one.
    { origin: 'https://chat.example', host: 'chat.example', 'x-forwarded-for': '192.0.2.1' },
    { origin: 'https://chat.example', host, 'sec-fetch-site': 'same-origin' },
  ];
  for (const route of routes) {
    for (const headers of foreign)
      assert.equal(await statusOf(open.url, route, headers), 403, `${route[1]} ${JSON.stringify(headers)}`);
    for (const headers of own)
      assert.equal(await statusOf(open.url, route, headers), 200, `${route[1]} ${JSON.stringify(headers)}`);
  }
});

test('a key opens the API to pages of another site, but not MCP', async () => {
  const headers = { origin: 'http://elsewhere.example', 'x-api-key': 'alice' };
  for (const route of routes)
    assert.equal(await statusOf(keyed.url, route, headers), route[1] === '/mcp' ? 403 : 200, route[1]);
  const stranger = { origin: 'http://elsewhere.example' };
  for (const route of routes) assert.equal(await statusOf(keyed.url, route, stranger), 401, route[1]);
});

test('a socket is refused to a page under a name of its own that leads here', async () => {
  const handshake = ['GET', '/socket.io/?EIO=4&transport=polling', undefined] as const;
  const rebound = { origin: 'http://evil.example', host: 'evil.example' };
  assert.equal(await statusOf(open.url, handshake, rebound), 403);
  assert.equal(await statusOf(open.url, handshake, { origin: open.url }), 200);
});
