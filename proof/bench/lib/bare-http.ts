import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

/** A bare node:http server, in a process of its own, that reads any body and answers one JSON text to everything. */
export async function startBareHttp(body: string): Promise<{ url: string } & Disposable> {
  const child = fork(fileURLToPath(import.meta.url));
  child.send(body);
  const [url] = (await once(child, 'message')) as [string];
  return { url, [Symbol.dispose]: () => child.kill() };
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once('message', (body: string) => {
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    };
    const server = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(200, headers).end(body));
    });
    server.listen(0, '127.0.0.1', () => {
      process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}
