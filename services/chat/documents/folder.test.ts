import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { FolderError, sendFolder } from '../pages/assets/folder.js';

let answer: RequestListener = () => {};
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  request.resume().once('end', () => answer(request, response));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const limits = { max_file_bytes: 100, max_files: 10, max_request_bytes: 1_000_000, extensions: ['txt'] };
const files = ['a.txt', 'b.txt', 'c.txt'].map((path) => ({
  path,
  size: 1,
  read: async () => new Uint8Array([97]),
  hash: async () => 'a'.repeat(64),
}));

async function send(respond: RequestListener, at = url) {
  answer = respond;
  asked.length = 0;
  const told: string[] = [];
  const waits: number[] = [];
  await sendFolder(files, {
    url: at,
    headers: { authorization: 'Bearer key' },
    collection: 'notes',
    visibility: undefined,
    removes: true,
    signal: undefined,
    tell: (outcome, path, reason) => told.push(`${outcome} ${path} ${reason ?? ''}`.trim()),
    progress: () => {},
    wait: async (seconds) => void waits.push(seconds),
  }).catch((error: Error) => {
    assert.ok(error instanceof FolderError, String(error.stack));
    told.push(error.message);
  });
  return { told, waits };
}

/** A chat that takes no file, with a status and a body for uploads. */
const refusing =
  (status: number, body: string, headers: Record<string, string> = {}): RequestListener =>
  ({ url: path }, response) => {
    const isUpload = path === '/api/upload' && asked.at(-1)?.startsWith('POST');
    const plan = { add: ['a.txt', 'b.txt', 'c.txt'], change: [], unchanged: [], remove: [] };
    response.writeHead(isUpload ? status : 200, { 'content-type': 'application/json', ...headers });
    response.end(isUpload ? body : JSON.stringify(path === '/api/upload' ? limits : plan));
  };
const refusal = (message: string) => JSON.stringify({ error: { code: 'unprocessable_document', message } });

test('a batch that is refused is sent in halves, until each file has its own reason', async () => {
  const { told } = await send(refusing(422, refusal('No text.')));
  assert.deepEqual(told, ['refused a.txt No text.', 'refused b.txt No text.', 'refused c.txt No text.']);
  assert.equal(asked.filter((each) => each === 'POST /api/upload').length, 5);
  const odd = await send(refusing(200, '{"documents": [], "errors": []}'));
  assert.match(odd.told.join('\n'), /^(refused [abc]\.txt The chat did not say what became of it\.\n?){3}$/);
});

test('a server that is full, busy, elsewhere or no chat ends the work in words', async () => {
  const cases: [RequestListener, RegExp][] = [
    [refusing(507, ''), /has no space left/],
    [refusing(429, '', { 'retry-after': '7' }), /too busy \(429\)/],
    [refusing(403, refusal('Not yours.')), /^Not yours\.$/],
    [
      (_, response) => response.writeHead(302, { location: 'http://localhost:1/' }).end(),
      /redirects elsewhere/,
    ],
    [(_, response) => response.writeHead(404).end('<html>'), /is not a chat/],
    [(_, response) => response.end('<html>'), /is not a chat/],
    [({ socket }) => socket.destroy(), /does not answer/],
  ];
  for (const [respond, expected] of cases) assert.match((await send(respond)).told.join('\n'), expected);
  const { waits } = await send(refusing(429, '', { 'retry-after': '700' }));
  assert.deepEqual(waits, Array(9).fill(120));
});

test('a server that is away for a while gets the rest', async () => {
  let away = 3;
  const working = refusing(
    200,
    JSON.stringify({ documents: files.map(() => ({ sha256: '', status: 'indexed' })) }),
  );
  const { told, waits } = await send((request, response) => {
    if (away-- > 0) request.socket.destroy();
    else working(request, response);
  });
  assert.deepEqual(
    [told, waits],
    [
      ['added a.txt', 'added b.txt', 'added c.txt'],
      [1, 2, 4],
    ],
  );
});
