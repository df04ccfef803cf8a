import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { boundedFetch } from './bounded-response.ts';

test('a response is read up to a number of bytes, and the rest is not', async () => {
  await using server = createServer((request, response) => {
    if (request.url === '/short') response.end('12345678');
    else if (request.url === '/none') response.writeHead(204).end();
    else if (request.url === '/zipped')
      response.setHeader('content-encoding', 'gzip').end(gzipSync('0'.repeat(1_000)));
    else {
      const closed = once(response, 'close');
      response.write('123456789');
      closed.then(() => server.emit('left'));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const left = once(server, 'left');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const get = boundedFetch(8);
  const short = await get(`${url}/short`);
  assert.equal(short.status, 200);
  assert.equal(await short.text(), '12345678');
  assert.equal((await get(`${url}/none`)).status, 204);
  const tooLarge = { name: 'ResponseTooLarge', message: 'a response of more than 8 bytes' };
  await assert.rejects(async () => (await get(`${url}/zipped`)).text(), tooLarge);
  await assert.rejects(async () => (await get(`${url}/endless`)).text(), tooLarge);
  await left;
});

test('a redirect is not followed', async () => {
  await using server = createServer((request, response) => {
    if (request.url === '/') response.writeHead(307, { location: '/elsewhere' }).end();
    else response.end('secret');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await assert.rejects(boundedFetch(8)(url), { name: 'TypeError' });
  assert.equal((await boundedFetch(8)(url, { redirect: 'manual' })).status, 307);
});
