import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcess, stopProcess } from '@octavo/octavo/testing';
import { eventsOf, type StreamedEvent, startChat, type TestChat } from '../testing.ts';
import { holdAnswers, startModel } from '../testing-model.ts';

const model = await startModel();
const settings = { LLM_BASE_URL: model.url, LLM_MODEL: 'scripted', CHAT_GENERATIONS_MAX: '0' };
const one = await startChat({ environment: settings });
const other = await startChat({ environment: settings, beside: one });
after(async () => {
  await Promise.all([one[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
  await model[Symbol.asyncDispose]();
});
await one.upload([{ name: 'handbook.md', content: 'Everybody has 27 days of vacation in a year.\n' }]);
const query = 'How many days of vacation do I have?';
const ask = (chat: TestChat, more: object = {}) => chat.send('POST', '/api/chat', { query, ...more });

const textOf = (events: readonly StreamedEvent[]) =>
  events.flatMap(({ event, data }) => (event === 'delta' ? [data.text] : [])).join('');

beforeEach(() => {
  model.calls.length = 0;
  model.script = (answer) => answer.text('Everybody has 27 days of ', 'vacation in a year [', '1].').end();
});

test('an ended turn is the same in another process', async () => {
  const { json: turn } = await ask(one, { request_id: 'ended' });
  assert.deepEqual((await ask(other, { request_id: 'ended' })).json, turn);
  const events = await Array.fromAsync(eventsOf(other, { query, request_id: 'ended' }));
  assert.deepEqual(events.at(-1)?.data, turn);
  const rest = eventsOf(other, { query, request_id: 'ended' }, { lastEventId: 4 });
  assert.deepEqual(await Array.fromAsync(rest), events.slice(4));
  assert.equal(model.calls.length, 1);
  const changed = await ask(other, { request_id: 'ended', top_k: 2 });
  assert.deepEqual([changed.status, changed.json.error.code], [409, 'duplicate']);
});

test('a running turn is waited for in another process, also as a stream', async () => {
  const { count } = holdAnswers(model);
  const first = ask(one, { request_id: 'running' });
  const [reply] = await count(1);
  const stream = eventsOf(other, { query, request_id: 'running' });
  const start = await stream.next();
  assert.equal(start.value?.event, 'start');
  const second = ask(other, { request_id: 'running' });
  reply?.text(' [1].').end();
  const { json: turn } = await first;
  assert.deepEqual((await second).json, turn);
  assert.deepEqual(start.value?.data.message_id, turn.message_id);
  const rest = await Array.fromAsync(stream);
  const texts = rest.filter(({ event }) => event === 'delta').map(({ data }) => data.text);
  assert.equal(texts.join(''), turn.answer);
  assert.deepEqual(rest.at(-1)?.data, turn);
  assert.equal(model.calls.length, 1);
});

test('a stream in another process gets the text as it is written', async () => {
  const { count } = holdAnswers(model);
  const first = ask(one, { request_id: 'live' });
  const [reply] = await count(1);
  const stream = eventsOf(other, { query, request_id: 'live' });
  const events: StreamedEvent[] = [];
  const untilText = async (wanted: string) => {
    while (textOf(events) !== wanted) {
      const { value } = await stream.next();
      assert.ok(value, 'the stream ended');
      events.push(value);
    }
  };
  await untilText('Everybody has 27 days');
  reply?.text(' of vacation');
  await untilText('Everybody has 27 days of vacation');
  reply?.text(' [1].').end();
  const { json: turn } = await first;
  events.push(...(await Array.fromAsync(stream)));
  assert.equal(textOf(events), turn.answer);
  assert.deepEqual(
    events.map(({ id }) => id),
    events.map((_, index) => index + 1),
  );
  assert.deepEqual(events.at(-1)?.data, turn);
});

test('fifty requests at the same time are one turn', async () => {
  const asked = Array.from({ length: 50 }, (_, n) => ask(n % 2 === 0 ? one : other, { request_id: 'fifty' }));
  const ids = (await Promise.all(asked)).map(({ json }) => json.message_id);
  assert.deepEqual(new Set(ids).size, 1);
  assert.equal(model.calls.length, 1);
});

test('a turn is cancelled from another process, and may be asked again there', async () => {
  const { count } = holdAnswers(model);
  const first = ask(one, { request_id: 'cancelled' });
  const [reply] = await count(1);
  const second = eventsOf(other, { query, request_id: 'cancelled' });
  await second.next();
  assert.equal((await other.send('POST', '/api/chat/cancelled/cancel')).status, 202);
  await reply?.closed;
  const { json: turn } = await first;
  assert.deepEqual([turn.answer, turn.metadata.finish_reason], ['Everybody has 27 days', 'cancelled']);
  assert.deepEqual((await Array.fromAsync(second)).at(-1)?.data, turn);
  model.script = (again) => again.text('27 days [1].').end();
  const { json: again } = await ask(other, { request_id: 'cancelled' });
  assert.deepEqual([again.answer, again.session_id], ['27 days [1].', turn.session_id]);
  assert.deepEqual((await ask(one, { request_id: 'cancelled' })).json, again);
  assert.equal((await other.send('POST', '/api/chat/unknown/cancel')).status, 404);
});

test('a turn goes on while somebody waits for it in another process', async () => {
  const { count } = holdAnswers(model);
  const [here, there] = [new AbortController(), new AbortController()];
  const body = { query, request_id: 'left' };
  const first = Array.fromAsync(eventsOf(one, body, here));
  const [reply] = await count(1);
  const second = eventsOf(other, body, there);
  await second.next();
  here.abort();
  await assert.rejects(first);
  const closed = reply?.closed.then(() => 'closed');
  assert.notEqual(await Promise.race([closed, sleep(400)]), 'closed');
  there.abort();
  await assert.rejects(second.next());
  // The interest of the other process expires.
  const passing = setInterval(() => one.clock.advance(500), 50);
  await closed;
  clearInterval(passing);
});

test('one turn runs in a session and two wait, in whatever process they are', async () => {
  const { begun, count } = holdAnswers(model);
  const { session_id } = (await one.send('POST', '/api/session', {})).json;
  const first = ask(one, { session_id });
  await count(1);
  const others = [other, one, other].map((chat) => ask(chat, { session_id }));
  const refused = await Promise.race(others);
  assert.deepEqual([refused.status, refused.json.error.code], [409, 'session_busy']);
  for (let done = 0; done < 3; done++) {
    const replies = await count(done + 1);
    assert.equal(replies.length, done + 1);
    replies[done]?.text(' [1].').end();
  }
  const statuses = (await Promise.all([first, ...others])).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [200, 200, 200, 409]);
  assert.equal(begun.length, 3);
});

test('a process that is killed leaves its ended turns, and its running ones may be asked again', async () => {
  one.clock.set(Date.now());
  const environment = { ...one.environment, ...settings, OCTAVO_DATA: one.context.dataFolder };
  const { url, child } = await startProcess('chat', { ...environment, LOG_LEVEL: 'fatal' });
  const killed = { ...one, url };
  const send = (body: object) =>
    fetch(`${url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, ...body }),
    });
  const ended = await (await send({ request_id: 'before' })).json();
  const { session_id } = (await one.send('POST', '/api/session', {})).json;
  const { count } = holdAnswers(model);
  const body = { query, session_id, request_id: 'broken' };
  const broken = assert.rejects(Array.fromAsync(eventsOf(killed, body)));
  await count(1);
  await stopProcess(child, 'SIGKILL');
  await broken;
  assert.deepEqual((await ask(other, { request_id: 'before' })).json, ended);
  one.clock.set(Date.now() + 10_000);
  model.script = (answer) => answer.text('27 days [1].').end();
  const { json: again } = await ask(other, { session_id, request_id: 'broken' });
  assert.deepEqual([again.answer, again.session_id], ['27 days [1].', session_id]);
  const { messages } = (await one.send('GET', `/api/session/${session_id}`)).json;
  assert.equal(messages.length, 2);
});

test('whoever saw the beginning of an answer of a killed process is told that it was interrupted', async () => {
  const environment = { ...one.environment, ...settings, OCTAVO_DATA: one.context.dataFolder };
  const { url, child } = await startProcess('chat', { ...environment, LOG_LEVEL: 'fatal' });
  // Processes share the clock of the machine.
  const passing = setInterval(() => one.clock.set(Date.now()), 20);
  const { count } = holdAnswers(model);
  const body = { query, request_id: 'interrupted' };
  const broken = assert.rejects(Array.fromAsync(eventsOf({ ...one, url }, body)));
  await count(1);
  const stream = eventsOf(other, body);
  const events: StreamedEvent[] = [];
  while (textOf(events) !== 'Everybody has 27 days')
    events.push((await stream.next()).value as StreamedEvent);
  const waiting = ask(other, { request_id: 'interrupted' });
  await stopProcess(child, 'SIGKILL');
  await broken;
  clearInterval(passing);
  model.script = (answer) => answer.text('27 days [1].').end();
  one.clock.set(Date.now() + 10_000);
  const rest = await Array.fromAsync(stream);
  assert.deepEqual(
    rest.map(({ event, data }) => [event, data.request_id, data.retryable]),
    [['error', 'interrupted', true]],
  );
  assert.equal((await waiting).json.answer, '27 days [1].');
});

test('a process that ends leaves its turns as cancelled, and they may be asked again', async () => {
  const third = await startChat({ environment: settings, beside: one });
  const { count } = holdAnswers(model);
  const first = ask(third, { request_id: 'restart' });
  await count(1);
  await third[Symbol.asyncDispose]();
  assert.equal((await first).json.metadata.finish_reason, 'cancelled');
  model.script = (answer) => answer.text('27 days [1].').end();
  await using restarted = await startChat({ environment: settings, beside: one });
  assert.equal((await ask(restarted, { request_id: 'restart' })).json.answer, '27 days [1].');
});
