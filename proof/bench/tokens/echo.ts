import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** A bare node:http server in a process of its own that parses a JSON body and answers with new JSON; one refresh chain cannot tell it from ours. */
export async function startEcho(tokens: object): Promise<{ url: string } & Disposable> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(tokens)]);
  const [url] = (await once(child, 'message')) as [string];
  return { url, [Symbol.dispose]: () => child.kill() };
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  const tokens = JSON.parse(process.argv[2] ?? '') as object;
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      JSON.parse(text);
      const body = JSON.stringify({ tokens });
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      response.writeHead(200, headers).end(body);
    });
  });
  server.listen(0, '127.0.0.1', () =>
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  );
}
