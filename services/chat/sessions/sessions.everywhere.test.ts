import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startChat } from '../testing.ts';

const chat = await startChat({ environment: { GATEWAY_AUTH: 'api_key', CHAT_API_KEYS: 'alice, charlie' } });
after(() => chat[Symbol.asyncDispose]());

const as = (key: string) => (method: string, path: string, body?: unknown) =>
  chat.send(method, path, body, { 'x-api-key': key });
const alice = as('alice');
const charlie = as('charlie');
const begin = async (body: object = {}) =>
  (await alice('POST', '/api/session', body)).json.session_id as string;

test('a session is made, renamed, read, cleared and deleted', async () => {
  const made = await alice('POST', '/api/session', { title: 'Travel', metadata: { ticket: 7 } });
  assert.equal(made.status, 201);
  assert.equal((await alice('POST', '/api/session')).json.title, 'New chat');
  const { session_id: id, created_at, expires_at } = made.json;
  assert.equal(made.headers.get('location'), `/api/session/${id}`);
  assert.equal(Date.parse(expires_at) - Date.parse(created_at), 30 * 86_400_000);
  const renamed = await alice('PATCH', `/api/session/${id}`, { title: 'Trips' });
  assert.equal(renamed.json.title, 'Trips');
  await alice('POST', '/api/chat', { query: 'Is there a ferry?', session_id: id });
  const read = (await alice('GET', `/api/session?session_id=${id}`)).json;
  assert.deepEqual(
    read.messages.map(({ role }: { role: string }) => role),
    ['user', 'assistant'],
  );
  assert.deepEqual(read.metadata, { ticket: 7 });
  const page = (await alice('GET', `/api/session/${id}?limit=1&before=${read.messages[1].id}`)).json;
  assert.deepEqual(page.messages, [read.messages[0]]);
  const text = await alice('GET', `/api/session/${id}/export?format=md`);
  assert.match(text.text, /^# Trips\n\nBegun .*\n\n## Is there a ferry\?\n\n/);
  assert.match(text.headers.get('content-disposition') ?? '', /^attachment; filename="chat-.*\.md"$/);
  assert.deepEqual((await alice('GET', `/api/session/${id}/export`)).json.messages, read.messages);
  assert.equal((await alice('POST', `/api/session/${id}/clear`)).status, 204);
  assert.equal((await alice('GET', `/api/session/${id}`)).json.message_count, 0);
  assert.equal((await alice('DELETE', `/api/session/${id}`)).status, 204);
  assert.equal((await alice('DELETE', `/api/session/${id}`)).status, 404);
});

test('the title of a chat is cut between characters', async () => {
  const family = '👩‍👩‍👧‍👦';
  for (const [query, title] of [
    [`${'x'.repeat(76)}${family} and more`, `${'x'.repeat(76)}…`],
    [`${'x'.repeat(72)}${family} and more`, `${'x'.repeat(72)}${family}…`],
    ['y'.repeat(81), `${'y'.repeat(79)}…`],
    ['z'.repeat(80), 'z'.repeat(80)],
  ] as const) {
    const { session_id: id } = (await alice('POST', '/api/chat', { query })).json;
    assert.equal((await alice('GET', `/api/session/${id}`)).json.title, title);
  }
});

test('an answer is rated by whoever asked', async () => {
  const id = await begin();
  const { message_id: message } = (await alice('POST', '/api/chat', { query: 'A ferry?', session_id: id }))
    .json;
  const path = `/api/chat/${message}/feedback`;
  const rate = (by: typeof alice, body: object, to = path) => by('POST', to, body);
  assert.equal((await rate(alice, { rating: 'up' })).status, 204);
  assert.equal((await rate(alice, { rating: 'down', comment: 'It sails on Mondays.' })).status, 204);
  const both = [rate(alice, { rating: 'up' }), rate(alice, { rating: 'down' })];
  for (const { status } of await Promise.all(both)) assert.equal(status, 204);
  assert.equal((await chat.send('POST', path, { rating: 'up' })).status, 401);
  assert.equal((await rate(charlie, { rating: 'up' })).status, 404);
  assert.equal((await rate(alice, { rating: 'up' }, '/api/chat/nothing/feedback')).status, 404);
  const [question] = (await alice('GET', `/api/session/${id}`)).json.messages;
  assert.equal((await rate(alice, { rating: 'up' }, `/api/chat/${question.id}/feedback`)).status, 404);
  for (const body of [
    {},
    { rating: 'best' },
    { rating: 'up', comment: 7 },
    { rating: 'up', comment: 'x'.repeat(2_001) },
  ]) {
    const refused = await rate(alice, body);
    assert.deepEqual([refused.status, refused.json.error.code], [400, 'validation_error']);
  }
  assert.equal((await alice('POST', `/api/session/${id}/clear`)).status, 204);
  assert.equal((await rate(alice, { rating: 'up' })).status, 404);
});

test('sessions of others are not there, and strangers are refused', async () => {
  const id = await begin();
  const requests: [string, string, object?][] = [
    ['GET', `/api/session/${id}`],
    ['PATCH', `/api/session/${id}`, { title: 'Mine' }],
    ['DELETE', `/api/session/${id}`],
    ['POST', `/api/session/${id}/clear`],
    ['GET', `/api/session/${id}/export`],
    ['POST', '/api/chat', { query: 'Hello?', session_id: id }],
  ];
  for (const [method, path, body] of requests) {
    assert.equal((await charlie(method, path, body)).status, 404, path);
    const stranger = await chat.send(method, path, body);
    assert.equal(stranger.status, 401, path);
    assert.equal(stranger.headers.get('www-authenticate'), 'Bearer');
  }
  assert.equal((await charlie('GET', '/api/sessions')).json.total, 0);
  assert.equal((await as('guess')('GET', '/api/sessions')).json.error.code, 'unauthorized');
  assert.equal((await chat.send('GET', '/readyz')).status, 200);
});

test('sessions are listed by pages, and found by their words', async () => {
  const before = (await alice('GET', '/api/sessions')).json.total;
  const ids = [];
  for (const title of ['100% wool', 'Linen', 'Cotton']) {
    chat.clock.advance(1_000);
    ids.unshift(await begin({ title }));
  }
  const first = (await alice('GET', '/api/sessions?limit=2')).json;
  const second = (await alice('GET', `/api/sessions?limit=2&cursor=${first.next_cursor}`)).json;
  const listed = [...first.sessions, ...second.sessions].map(
    (each: { session_id: string }) => each.session_id,
  );
  assert.deepEqual(listed.slice(0, 3), ids);
  assert.equal(first.total, before + 3);
  const found = (await alice('GET', '/api/sessions?q=0%25%20WOOL')).json;
  assert.deepEqual([found.total, found.sessions[0].title], [1, '100% wool']);
  assert.equal((await alice('GET', '/api/sessions?cursor=x')).json.error.code, 'validation_error');
});

test('what is wrong with a session is named', async () => {
  for (const [body, path] of [
    [{ title: 7 }, 'title'],
    [{ title: '\u3164\u2800' }, 'title'],
    [{ title: 'x'.repeat(201) }, 'title'],
    [{ metadata: { text: 'x'.repeat(4_096) } }, 'metadata'],
  ] as const) {
    const { status, json } = await alice('POST', '/api/session', body);
    assert.deepEqual([status, json.error.code, json.error.details[0].path], [400, 'validation_error', path]);
  }
});

test('a session expires 30 days after its last use, and the last 200 messages are kept', async () => {
  const id = await begin();
  for (let turn = 0; turn < 101; turn++)
    await alice('POST', '/api/chat', { query: `Question ${turn}?`, session_id: id });
  const { message_count, messages } = (await alice('GET', `/api/session/${id}?limit=200`)).json;
  assert.deepEqual([message_count, messages[0].content], [200, 'Question 1?']);
  chat.clock.advance(30 * 86_400_000);
  assert.equal((await alice('PATCH', `/api/session/${id}`, { title: 'Again' })).status, 404);
  assert.equal((await alice('DELETE', `/api/session/${id}`)).status, 404);
  assert.equal((await alice('GET', `/api/session/${id}`)).status, 404);
  assert.equal((await alice('GET', '/api/sessions')).json.total, 0);
});
