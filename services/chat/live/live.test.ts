import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { io, type Socket } from 'socket.io-client';
import { startChat } from '../testing.ts';
import { type ModelReply, startModel } from '../testing-model.ts';

const model = await startModel();
const chat = await startChat({
  environment: {
    LLM_BASE_URL: model.url,
    LLM_MODEL: 'scripted',
    GATEWAY_AUTH: 'api_key',
    CHAT_API_KEYS: 'alice,charlie',
  },
});
const sockets: Socket[] = [];
after(async () => {
  for (const socket of sockets) socket.disconnect();
  await chat[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});
const form = new FormData();
form.append('file', new Blob(['Everybody has 27 days of vacation in a year.']), 'handbook.txt');
await fetch(`${chat.url}/api/upload`, { method: 'POST', body: form, headers: { 'x-api-key': 'alice' } });
const query = 'How many days of vacation do I have?';
const answerNow = (answer: ModelReply) => answer.text('Everybody has ', '27 days [1].').end();

// biome-ignore lint/suspicious/noExplicitAny: a test inspects any packet
type Packet = { name: string; data: any };

/** A connected socket, with what it receives. */
async function connect(token: string) {
  const socket = io(chat.url, { auth: { token }, transports: ['websocket'], reconnection: false });
  sockets.push(socket);
  const packets: Packet[] = [];
  const waiting = new Set<() => void>();
  socket.onAny((name, data) => {
    packets.push({ name, data });
    for (const wake of waiting) wake();
  });
  const until = async (name: string): Promise<Packet['data']> => {
    for (;;) {
      const found = packets.find((packet) => packet.name === name);
      if (found) return found.data;
      await new Promise<void>((resolve) => waiting.add(resolve));
    }
  };
  await until('connected');
  return { socket, packets, until };
}

test('a question is answered by events, whose texts are the answer', async () => {
  model.script = answerNow;
  const { socket, packets, until } = await connect('alice');
  const acknowledged = await socket.emitWithAck('chat_message', { query, request_id: 'one' });
  assert.deepEqual(acknowledged, { ok: true, request_id: 'one' });
  const body = await until('response_complete');
  assert.equal(body.answer, 'Everybody has 27 days [1].');
  const chunks = packets.filter(({ name }) => name === 'response_chunk').map(({ data }) => data.chunk);
  assert.equal(chunks.join(''), body.answer);
  const names = packets.map(({ name }) => name).filter((name, index, all) => name !== all[index - 1]);
  assert.deepEqual(names, [
    'connected',
    'status',
    'sources',
    'status',
    'response_chunk',
    'response_complete',
  ]);
  const repeated = await chat.send(
    'POST',
    '/api/chat',
    { query, request_id: 'one' },
    { 'x-api-key': 'alice' },
  );
  assert.deepEqual(repeated.json, body);
  assert.equal(model.calls.length, 1);
});

test('strangers are refused, and what is wrong is said', async () => {
  const stranger = io(chat.url, { auth: { token: 'guess' }, reconnection: false });
  sockets.push(stranger);
  const refused = await new Promise<Error & { data?: unknown }>((resolve) =>
    stranger.on('connect_error', resolve),
  );
  assert.deepEqual(refused.data, { code: 'unauthorized' });
  const { socket } = await connect('charlie');
  const send = async (message: object, name = 'chat_message') =>
    (await socket.emitWithAck(name, message)).error;
  assert.equal((await send({})).details[0].path, 'query');
  assert.deepEqual((await send({ query, strategy: 'magic' })).details[0].allowed.length, 4);
  assert.equal((await send({ query, session_id: 'unknown' })).code, 'not_found');
  assert.equal((await send({ request_id: 'one' }, 'cancel')).code, 'not_found');
  assert.equal((await send({ session_id: 'unknown' }, 'join_session')).code, 'not_found');
});

test('an answer is cancelled, and five turns run at most', async () => {
  const begun: ModelReply[] = [];
  model.script = (answer) => void begun.push(answer.text('Everybody has '));
  const { socket, until } = await connect('alice');
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const sent = await Promise.all(
    ids.map((id) => socket.emitWithAck('chat_message', { query, request_id: id })),
  );
  assert.ok(sent.every(({ ok }) => ok));
  const sixth = await socket.emitWithAck('chat_message', { query });
  assert.deepEqual([sixth.ok, sixth.error.code], [false, 'rate_limited']);
  const cancelled = await Promise.all(ids.map((id) => socket.emitWithAck('cancel', { request_id: id })));
  assert.ok(cancelled.every(({ ok }) => ok));
  assert.equal((await until('response_cancelled')).metadata.finish_reason, 'cancelled');
});

test('a question that is cancelled while it waits is answered as cancelled', async () => {
  const { promise, resolve } = Promise.withResolvers<ModelReply>();
  model.script = (answer) => resolve(answer.text('Everybody has '));
  const session_id = (await chat.send('POST', '/api/session', {}, { 'x-api-key': 'alice' })).json.session_id;
  const { socket, until } = await connect('alice');
  await socket.emitWithAck('chat_message', { query, session_id });
  const reply = await promise;
  const sent = socket.emitWithAck('chat_message', { query, session_id, request_id: 'waits here' });
  while (!(await socket.emitWithAck('cancel', { request_id: 'waits here' })).ok);
  assert.deepEqual(await sent, { ok: true, request_id: 'waits here' });
  const body = await until('response_cancelled');
  assert.deepEqual([body.request_id, body.metadata.finish_reason], ['waits here', 'cancelled']);
  reply.end();
});

test('whoever joined a session sees its answers', async () => {
  model.script = answerNow;
  const session = (await chat.send('POST', '/api/session', {}, { 'x-api-key': 'alice' })).json.session_id;
  const [one, other] = [await connect('alice'), await connect('alice')];
  assert.deepEqual(await other.socket.emitWithAck('join_session', { session_id: session }), {
    ok: true,
    session_id: session,
  });
  await one.socket.emitWithAck('chat_message', { query, session_id: session });
  assert.equal((await other.until('response_complete')).session_id, session);
});

test('after a break the same question by HTTP is the same turn', async () => {
  const { promise, resolve } = Promise.withResolvers<ModelReply>();
  model.script = (answer) => resolve(answer.text('Everybody has '));
  model.calls.length = 0;
  const { socket } = await connect('alice');
  await socket.emitWithAck('chat_message', { query, request_id: 'fall back' });
  const reply = await promise;
  socket.disconnect();
  const answer = chat.send('POST', '/api/chat', { query, request_id: 'fall back' }, { 'x-api-key': 'alice' });
  reply.text('27 days [1].').end();
  assert.equal((await answer).json.answer, 'Everybody has 27 days [1].');
  assert.equal(model.calls.length, 1);
});
