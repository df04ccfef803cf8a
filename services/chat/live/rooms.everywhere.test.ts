import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startGate } from '@octavo/testing/engines';
import { io, type Socket } from 'socket.io-client';
import { startChat, type TestChat } from '../testing.ts';
import { holdAnswers, startModel } from '../testing-model.ts';

const model = await startModel();
const settings = { LLM_BASE_URL: model.url, LLM_MODEL: 'scripted' };
const one = await startChat({ environment: settings });
const other = await startChat({ environment: settings, beside: one });
const databaseUrl = one.environment.DATABASE_URL;
const sockets: Socket[] = [];
after(async () => {
  for (const socket of sockets) socket.disconnect();
  await Promise.all([one[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
  await model[Symbol.asyncDispose]();
});
await one.upload([{ name: 'handbook.md', content: 'Everybody has 27 days of vacation in a year.\n' }]);
const timeout = 60_000;
const query = 'How many days of vacation do I have?';

// biome-ignore lint/suspicious/noExplicitAny: a test inspects any packet
type Packet = { readonly name: string; readonly data: any };

/** A socket that joined the session, with the packets it gets. */
async function join(chat: TestChat, session_id: string) {
  const socket = io(chat.url, { transports: ['websocket'], reconnection: false });
  sockets.push(socket);
  const packets: Packet[] = [];
  let wake = () => {};
  socket.onAny((name, data) => {
    packets.push({ name, data });
    wake();
  });
  const until = async (isMet: (packets: readonly Packet[]) => unknown) => {
    while (!isMet(packets))
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  };
  assert.equal((await socket.emitWithAck('join_session', { session_id })).ok, true);
  return { socket, packets, until };
}

const newSession = async (): Promise<string> => (await one.send('POST', '/api/session', {})).json.session_id;
const named = (packets: readonly Packet[], name: string) =>
  packets.flatMap((packet) => (packet.name === name ? [packet.data] : []));
const textOf = (packets: readonly Packet[]) =>
  named(packets, 'response_chunk')
    .map(({ chunk }) => chunk)
    .join('');

test('sockets of all processes see the answers of a session they joined as they are written', {
  timeout,
}, async () => {
  const { count } = holdAnswers(model);
  const session = await newSession();
  const [asker, beside, remote] = await Promise.all([
    join(one, session),
    join(one, session),
    join(other, session),
  ]);
  await asker.socket.emitWithAck('chat_message', { query, session_id: session, request_id: 'shared' });
  const [reply] = await count(1);
  const all = [asker, beside, remote];
  await Promise.all(all.map(({ until }) => until((packets) => textOf(packets) === 'Everybody has 27 days')));
  reply?.text(' of vacation [1].').end();
  await Promise.all(all.map(({ until }) => until((packets) => named(packets, 'response_complete').length)));
  const [body] = named(asker.packets, 'response_complete');
  assert.equal(body.answer, 'Everybody has 27 days of vacation [1].');
  const seen = ({ packets }: { packets: readonly Packet[] }) =>
    packets.filter(({ name }) => !['connected', 'session_joined'].includes(name));
  assert.deepEqual(seen(beside), seen(asker));
  assert.deepEqual(seen(remote), seen(asker));
});

test('answers that were asked for by HTTP are shown too, also short ones', { timeout }, async () => {
  model.script = (answer) => answer.text('27 days [1].').end();
  const session = await newSession();
  const joined = await Promise.all([join(one, session), join(other, session)]);
  const { json: turn } = await one.send('POST', '/api/chat', { query, session_id: session });
  for (const { packets, until } of joined) {
    await until(() => named(packets, 'response_complete').length);
    assert.equal(textOf(packets), turn.answer);
    assert.deepEqual(named(packets, 'response_complete'), [turn]);
  }
});

test('watching an answer does not keep it from being stopped, and leaving a session ends it', {
  timeout,
}, async () => {
  const { count } = holdAnswers(model);
  const session = await newSession();
  const [watcher, left] = await Promise.all([join(other, session), join(other, session)]);
  await left.socket.emitWithAck('leave_session', { session_id: session });
  const gone = new AbortController();
  const asked = fetch(`${one.url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, session_id: session }),
    signal: gone.signal,
  });
  const [reply] = await count(1);
  await watcher.until((packets) => textOf(packets) === 'Everybody has 27 days');
  gone.abort();
  await assert.rejects(asked);
  await reply?.closed;
  await watcher.until((packets) => named(packets, 'response_cancelled').length);
  assert.deepEqual(
    left.packets.map(({ name }) => name),
    ['connected', 'session_joined'],
  );
});

test('a watcher gets the rest of an answer after PostgreSQL was away', {
  timeout,
  skip: !databaseUrl && 'SQLite has no server',
}, async () => {
  const target = new URL(databaseUrl ?? '');
  const gate = await startGate(`${target.hostname}:${target.port || 5432}`);
  target.host = gate.address;
  const behind = { ...one, environment: { ...one.environment, DATABASE_URL: target.href } };
  await using far = await startChat({ environment: settings, beside: behind });
  const { count } = holdAnswers(model);
  const session = await newSession();
  const watcher = await join(far, session);
  const asked = one.send('POST', '/api/chat', { query, session_id: session });
  const [reply] = await count(1);
  await watcher.until((packets) => textOf(packets) === 'Everybody has 27 days');
  gate.cut();
  reply?.text(' of vacation [1].').end();
  const { json: turn } = await asked;
  gate.open();
  await watcher.until((packets) => named(packets, 'response_complete').length);
  assert.equal(textOf(watcher.packets), turn.answer);
  watcher.socket.disconnect();
});
