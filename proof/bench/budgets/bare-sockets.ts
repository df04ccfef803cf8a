import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** Bare node:http and `ws`: what is posted goes to all sockets with the same `Authorization`. It tells its address. */
const socketsOf = new Map<string, Set<WebSocket>>();
const seqs = new Map<string, number>();

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { message } = JSON.parse(Buffer.concat(chunks).toString());
  const key = request.headers.authorization ?? '';
  const seq = (seqs.get(key) ?? 0) + 1;
  seqs.set(key, seq);
  const data = { title: 'Message', message };
  const id = '01932c07-8a3b-7c55-9d0e-0c1a4c1d2f3b';
  const createdAt = new Date().toISOString();
  const text = JSON.stringify({ type: 'notification', seq, id, event: 'message', message, data, createdAt });
  for (const socket of socketsOf.get(key) ?? []) socket.send(text);
  response.writeHead(201, { 'content-type': 'application/json' }).end('{}');
});

new WebSocketServer({ server }).on('connection', (socket, { headers }) => {
  const sockets = socketsOf.getOrInsertComputed(headers.authorization ?? '', () => new Set());
  sockets.add(socket);
  socket.on('message', () => socket.send('{"type":"ready"}'));
  socket.on('close', () => sockets.delete(socket));
});

server.listen(0, '127.0.0.1', () => {
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('disconnect', () => process.exit());
