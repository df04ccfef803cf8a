import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { bearer } from '@octavo/testing';
import { io } from 'socket.io-client';
import { WebSocket } from 'ws';
import { startBudgets } from '../services/budgets/testing.ts';
import { startChat } from '../services/chat/testing.ts';
import { holdAnswers, startModel } from '../services/chat/testing-model.ts';
import { startPolls } from '../services/polls/testing.ts';

const count = 3;
const events = { accept: 'text/event-stream' };

/** Opens some, and leaves them open until the test ends. */
async function openAll(open: () => Promise<unknown>): Promise<void> {
  for (let number = 0; number < count; number++) await open();
}

/** The only request in flight is the one that asks. */
async function assertNoneInFlight(url: string): Promise<void> {
  const text = await (await fetch(`${url}/metrics`)).text();
  assert.match(text, /^http_requests_in_flight 1$/m);
}

test('streams of polls are not requests in flight', { timeout: 60_000 }, async (t) => {
  await using polls = await startPolls();
  const away = new AbortController();
  t.after(() => away.abort());
  const { id } = await polls.createPoll(['Yes', 'No']);
  const url = `${polls.url}/polls/${id}/results/stream`;
  await openAll(async () => assert.equal((await fetch(url, { signal: away.signal })).status, 200));
  await assertNoneInFlight(polls.url);
  away.abort();
});

test('sockets and subscriptions of budgets are not requests in flight', { timeout: 60_000 }, async () => {
  await using budgets = await startBudgets();
  const away = new AbortController();
  const headers = bearer((await budgets.person()).token);
  const sockets: WebSocket[] = [];
  const url = budgets.url.replace('http', 'ws');
  await openAll(async () => {
    sockets.push(new WebSocket(`${url}/ws`, { headers }));
    sockets.push(new WebSocket(`${url}/api/graphql`, 'graphql-transport-ws'));
    await Promise.all(sockets.slice(-2).map((socket) => once(socket, 'open')));
  });
  const body = JSON.stringify({ query: 'subscription { notificationAdded { id } }' });
  const init = { method: 'POST', body, signal: away.signal };
  await openAll(async () => {
    const all = { ...headers, ...events, 'content-type': 'application/json' };
    assert.equal((await fetch(`${budgets.url}/api/graphql`, { ...init, headers: all })).status, 200);
  });
  await assertNoneInFlight(budgets.url);
  away.abort();
  for (const socket of sockets) socket.terminate();
});

test('streams and sockets of the chat are not requests in flight', { timeout: 60_000 }, async () => {
  await using model = await startModel();
  await using chat = await startChat({ environment: { LLM_BASE_URL: model.url, LLM_MODEL: 'scripted' } });
  await chat.upload([{ name: 'handbook.md', content: 'Everybody has 27 days of vacation in a year.\n' }]);
  const { count: untilBegun } = holdAnswers(model);
  const away = new AbortController();
  const sockets: ReturnType<typeof io>[] = [];
  const headers = { ...events, 'content-type': 'application/json' };
  const body = JSON.stringify({ query: 'How many days of vacation do I have?' });
  await openAll(async () => {
    const init = { method: 'POST', headers, body, signal: away.signal };
    assert.equal((await fetch(`${chat.url}/api/chat`, init)).status, 200);
    const socket = io(chat.url, { transports: ['websocket'], reconnection: false });
    sockets.push(socket);
    await new Promise<void>((resolve) => socket.once('connected', () => resolve()));
  });
  await untilBegun(count);
  await assertNoneInFlight(chat.url);
  for (const socket of sockets) socket.disconnect();
  away.abort();
});
