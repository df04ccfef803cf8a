import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { eventsOf, type StreamedEvent, startChat } from '../testing.ts';
import { type ModelCall, startModel } from '../testing-model.ts';

const model = await startModel();
const chat = await startChat({
  environment: { LLM_BASE_URL: model.url, LLM_MODEL: 'scripted', CHAT_GENERATIONS_MAX: '0' },
});
after(async () => {
  await chat[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});
const rooms = Array.from(
  { length: 30 },
  (_, room) =>
    `## Room ${room}\n\nRoom ${room} has ${room + 3} beds. ${'It is warm and quiet at night. '.repeat(16)}\n`,
);
await chat.upload([
  { name: 'lease.md', content: '# Lease\n\nThe rent is 900 euros. Notice is three months.\n' },
  { name: 'handbook.md', content: '# Handbook\n\nEverybody has 27 days of vacation in a year.\n' },
  { name: 'hostel.md', content: `# Hostel\n\n${rooms.join('\n')}` },
]);
const textOf = ({ messages }: ModelCall) => JSON.stringify(messages);
const streamed = (query: string, more: object = {}) => Array.fromAsync(eventsOf(chat, { query, ...more }));
const stagesOf = (events: readonly StreamedEvent[]) =>
  events.filter(({ event }) => event === 'status').map(({ data }) => data);

beforeEach(() => {
  model.calls.length = 0;
});

test('a document that fits is summed up by all of its text', async () => {
  model.script = (reply) => reply.text('The rent is 900 euros. Notice is three months.').end();
  const events = await streamed('Summarize the lease');
  const turn = events.at(-1)?.data;
  assert.equal(turn.answer, 'The rent is 900 euros [1]. Notice is three months [1].');
  assert.deepEqual([turn.kind, turn.grounded, turn.sources.length], ['generated', true, 1]);
  assert.match(textOf(model.calls[0] as ModelCall), /Notice is three months/);
  assert.doesNotMatch(textOf(model.calls[0] as ModelCall), /vacation/);
  assert.deepEqual(
    stagesOf(events).map(({ stage }) => stage),
    ['loading', 'generating'],
  );
});

test('two documents are compared by all of their text', async () => {
  model.script = (reply) =>
    reply.text('The rent is 900 euros [1]. Everybody has 27 days of vacation [2].').end();
  const turn = (await streamed('Compare the lease with the handbook')).at(-1)?.data;
  assert.deepEqual(
    turn.citations.map(({ quote }: { quote: string }) => quote),
    ['The rent is 900 euros.', 'Everybody has 27 days of vacation in a year.'],
  );
});

test('a document that does not fit is read by parts, with progress', async () => {
  model.script = (reply, call) =>
    /Which facts of this part/.test(textOf(call))
      ? reply.text(/Room 29 has 32/.test(textOf(call)) ? 'Room 29 has 32 beds.' : 'Rooms have beds.').end()
      : reply.text('Room 29 has 32 beds.').end();
  const events = await streamed('Summarize the hostel');
  const turn = events.at(-1)?.data;
  const total = model.calls.length - 1;
  assert.ok(total >= 2, String(total));
  assert.deepEqual(
    stagesOf(events)
      .filter(({ stage }) => stage === 'reading')
      .map((data) => [data.done, data.total]),
    Array.from({ length: total + 1 }, (_, done) => [done, total]),
  );
  for (const call of model.calls) assert.ok(textOf(call).length / 3.5 < 4_096, String(textOf(call).length));
  assert.match(textOf(model.calls.at(-1) as ModelCall), /Room 29 has 32 beds/);
  const [citation] = turn.citations;
  const { text } = await chat.send('GET', `/api/documents/${citation.document_id}/text`);
  assert.equal(text.slice(citation.quote_start, citation.quote_end), citation.quote);
  assert.match(citation.quote, /^Room 29 has 32 beds/);
});

test('a model that fails or has nothing to say leaves the plain reply', async () => {
  for (const script of [
    (reply: Parameters<typeof model.script>[0]) => reply.fail(500),
    (reply: Parameters<typeof model.script>[0]) => reply.text('NO_ANSWER').end(),
  ]) {
    model.script = script;
    const turn = (await streamed('Summarize the lease')).at(-1)?.data;
    assert.deepEqual([turn.kind, turn.metadata.mode], ['reply', 'extractive']);
    assert.match(turn.answer, /The rent is 900 euros/);
  }
});

test('a turn that is cancelled while parts are read ends as cancelled', async () => {
  model.script = (reply) => void reply.text('Rooms');
  const asked = chat.send('POST', '/api/chat', { query: 'Summarize the hostel', request_id: 'stop' });
  while ((await chat.send('POST', '/api/chat/stop/cancel')).status === 404);
  const { json: turn } = await asked;
  assert.deepEqual([turn.metadata.finish_reason, turn.answer], ['cancelled', '']);
});

test('a follow-up is rewritten by the model, and read in the plain way where it fails', async () => {
  const isRewriting = (call: ModelCall) => /Rewritten question:/.test(textOf(call));
  for (const [rewritten, source] of [
    ['How many days of vacation does everybody have in a year?', /27 days/],
    ['', /Notice/],
    ['{"name": "search"}', /Notice/],
    ['One\n\nTwo', /Notice/],
  ] as const) {
    const { session_id } = (await chat.send('POST', '/api/session')).json;
    model.script = (reply) => reply.text('The rent is 900 euros [1].').end();
    await chat.send('POST', '/api/chat', { query: 'How much is the rent of the lease?', session_id });
    model.calls.length = 0;
    model.script = (reply, call) =>
      reply.text(isRewriting(call) ? rewritten : 'Notice is three months [1].').end();
    await chat.send('POST', '/api/chat', { query: 'And the notice?', session_id });
    assert.deepEqual(model.calls.map(isRewriting), [true, false]);
    assert.equal(model.calls[0]?.max_tokens, 64);
    assert.match(textOf(model.calls[0] as ModelCall), /user: How much is the rent of the lease\?/);
    assert.match(textOf(model.calls[1] as ModelCall), source);
    assert.match(textOf(model.calls[1] as ModelCall), /Notice/, 'the plain way is searched too');
  }
});
