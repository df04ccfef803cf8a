import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestChat } from './testing.ts';

/** A server that notes the credentials it is sent. */
export async function startServer(respond: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers.authorization);
    respond(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Lists two models. */
export const listing = (_request: IncomingMessage, response: ServerResponse) =>
  response.end(JSON.stringify({ data: [{ id: 'small' }, { id: 'large' }] }));

/** The cookies that a response sets, as they are sent back. */
export function cookiesOf({ headers }: Response): string {
  const pairs = headers.getSetCookie().map((line) => line.split(';')[0]);
  return pairs.join('; ');
}

/** The settings page as a browser without JavaScript uses it. */
export async function openSettings(chat: TestChat, kind = 'llm') {
  const address = `${chat.url}/settings?kind=${kind}`;
  const get = (headers: Record<string, string> = {}) =>
    fetch(address, { headers: { accept: 'text/html', ...headers } });
  const first = await get();
  const cookie = cookiesOf(first);
  const page = await first.text();
  const [, token = ''] = /name="_csrf" value="([^"]+)"/.exec(page) ?? [];
  const post = async (fields: Record<string, string>) => {
    const body = new URLSearchParams({ _csrf: token, ...fields });
    const headers = { accept: 'text/html', origin: chat.url, cookie };
    const init = { method: 'POST', body, headers, redirect: 'manual' } as const;
    const response = await fetch(address, init);
    const text = await response.text();
    const [, sealed = ''] = /name="sealed" value="([^"]+)"/.exec(text) ?? [];
    return { status: response.status, text, sealed };
  };
  return { get, post, page, status: first.status };
}
