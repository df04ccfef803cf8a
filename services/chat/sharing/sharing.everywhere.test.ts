import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { bearer } from '@octavo/testing';
import { startChat } from '../testing.ts';
import { startModel } from '../testing-model.ts';
import { eraseAccount, signedIn, startPeople, stranger, uploadText } from '../testing-people.ts';

const people = await startPeople();
const { provider, audience } = people;
const environment = { ...people.signIn, CHAT_LIBRARY: 'shared' };
const chat = await startChat({ environment });
const replica = await startChat({ environment, beside: chat });
after(async () => {
  await replica[Symbol.asyncDispose]();
  await chat[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const dayMs = 86_400_000;
const text =
  '# Wages in vermilion\n\nThe lighthouse keeper gets 4711 ducats each spring.\n\nThe moonpay is late.';
const question = 'How many ducats does the lighthouse keeper get each spring?';
let uploads = 0;

async function headersOf(sub: string) {
  const iat = Math.floor(chat.clock.now() / 1_000);
  return bearer(await provider.accessToken(audience, { sub, iat }));
}

/** A chat of somebody with one answer from a document of theirs, shared. */
async function shareAnswer(sub = 'alice', fields: Record<string, string> = {}) {
  const headers = await headersOf(sub);
  const content = `${text} Copy ${++uploads}.`;
  const { document } = await uploadText({ at: chat, headers }, content, { name: 'payslip-77.md', ...fields });
  const filters = { document_ids: [document.document_id] };
  const { json } = await chat.send('POST', '/api/chat', { query: question, filters }, headers);
  assert.match(json.answer, /4711 ducats/);
  const session = json.session_id as string;
  const path = `/api/session/${session}/share`;
  const shared = await chat.send('POST', path, undefined, headers);
  assert.equal(shared.status, 201);
  const url = shared.json.url as string;
  assert.equal(await statusOf(url), 200);
  return { session, path, url, headers, document: document.document_id as string, shared: shared.json };
}

async function read(url: string) {
  const response = await fetch(url.replace(audience, chat.url));
  return { status: response.status, headers: response.headers, page: await response.text() };
}

async function statusOf(url: string): Promise<number> {
  const { status, page } = await read(url.replace(audience, replica.url));
  if (status !== 200) assert.doesNotMatch(page, /ducats|keeper/);
  return status;
}

test('a stranger reads question, answer and quote of a shared chat, and nothing else of the document', async () => {
  const { session, path, url, headers, shared } = await shareAnswer();
  // The configured address, and not the one that a client names.
  assert.match(url, /^https:\/\/chat\.example\/shared\/[\w-]{43}$/);
  assert.equal(Date.parse(shared.expires_at) - chat.clock.now(), 30 * dayMs);
  const again = await replica.send('POST', path, undefined, headers);
  assert.deepEqual([again.status, again.json.expires_at], [200, shared.expires_at]);
  assert.equal(new URL(again.json.url).pathname, new URL(url).pathname);
  await chat.send('POST', '/api/chat', { query: 'When is the moonpay due?', session_id: session }, headers);
  const { headers: sent, page } = await read(url);
  assert.deepEqual(
    ['referrer-policy', 'x-robots-tag', 'cache-control', 'set-cookie'].map((name) => sent.get(name)),
    ['no-referrer', 'noindex', 'no-store', null],
  );
  assert.match(page, /The lighthouse keeper gets 4711 ducats each spring\./);
  assert.doesNotMatch(page, /vermilion|payslip|moonpay|\/documents\/|\/chats\//i);
  const { session_id, messages } = (await chat.send('GET', `/api/session/${session}`, undefined, headers))
    .json;
  for (const id of [session_id, messages[1].id, messages[1].sources[0].document_id])
    assert.equal(page.includes(id), false);
});

test('replies about the library are not shared, and names of documents not in what a model writes', async () => {
  await using model = await startModel();
  await using written = await startChat({
    environment: { ...environment, LLM_BASE_URL: model.url, LLM_MODEL: 'scripted' },
  });
  model.script = (answer) =>
    answer.text('By “Wages in vermilion” (payslip-77.md), the keeper gets **4711 ducats** [1].').end();
  const headers = await headersOf('alice');
  const { status, error } = await uploadText({ at: written, headers }, text, { name: 'payslip-77.md' });
  assert.equal(status, 201, JSON.stringify(error));
  const asked = await written.send('POST', '/api/chat', { query: 'Which documents are there?' }, headers);
  const { session_id } = asked.json;
  assert.match(asked.json.answer, /vermilion/);
  const path = `/api/session/${session_id}/share`;
  const refused = await written.send('POST', path, undefined, headers);
  assert.deepEqual([refused.status, refused.json.error.code], [400, 'validation_error']);
  await written.send('POST', '/api/chat', { query: question, session_id }, headers);
  await written.send('POST', '/api/chat', { query: 'Summarize payslip-77.md', session_id }, headers);
  const { json } = await written.send('POST', path, undefined, headers);
  const { page } = await read(json.url.replace(audience, written.url));
  assert.match(page, /By “…” \(…\)/);
  assert.match(page, /<strong>.*4711 ducats.*<\/strong> <a class="cite" href="#quote-1-1"/);
  assert.match(page, /id="quote-1-1"[\s\S]*The lighthouse keeper gets 4711 ducats each spring/);
  assert.doesNotMatch(page.replaceAll('Summarize payslip-77.md', ''), /vermilion|payslip/i);
  assert.equal(page.split('class="turn"').length, 3);
});

test('a link ends with its chat, its time, and when its owner wants it', async () => {
  const ended = await shareAnswer();
  const bob = await headersOf('bob');
  for (const [method, headers, status] of [
    ['POST', bob, 404],
    ['DELETE', bob, 404],
    ['POST', stranger, 404],
    ['DELETE', ended.headers, 204],
    ['DELETE', ended.headers, 404],
  ] as const)
    assert.equal((await replica.send(method, ended.path, undefined, headers)).status, status);
  assert.equal(await statusOf(ended.url), 404);
  const anew = await chat.send('POST', ended.path, undefined, ended.headers);
  assert.equal(anew.status, 201);
  assert.notEqual(anew.json.url, ended.url);
  const [deleted, cleared, kept] = [await shareAnswer(), await shareAnswer(), await shareAnswer()];
  assert.equal(
    (await chat.send('DELETE', `/api/session/${deleted.session}`, undefined, deleted.headers)).status,
    204,
  );
  assert.equal(await statusOf(deleted.url), 404);
  const clear = `/api/session/${cleared.session}/clear`;
  assert.equal((await chat.send('POST', clear, undefined, cleared.headers)).status, 204);
  assert.equal(await statusOf(cleared.url), 404);
  assert.equal((await chat.send('POST', cleared.path, undefined, cleared.headers)).status, 400);
  chat.clock.advance(20 * dayMs);
  const path = `/api/session/${kept.session}`;
  const renamed = await chat.send('PATCH', path, { title: 'Keeper' }, await headersOf('alice'));
  assert.equal(renamed.status, 200);
  assert.equal(await statusOf(kept.url), 200);
  chat.clock.advance(10 * dayMs);
  assert.equal(await statusOf(kept.url), 404, 'after 30 days, though the chat is there');
  assert.equal((await chat.send('GET', path, undefined, await headersOf('alice'))).status, 200);
  assert.equal((await chat.send('POST', kept.path, undefined, await headersOf('alice'))).status, 201);
});

test('a link ends with a document that it quotes, and not when that is read again', async () => {
  const { url, path, headers, document } = await shareAnswer();
  const at = `/api/documents/${document}`;
  assert.equal((await chat.send('POST', `${at}/reindex`, undefined, headers)).status, 200);
  assert.equal(await statusOf(url), 200);
  assert.equal((await chat.send('PATCH', at, { visibility: 'everyone' }, headers)).status, 200);
  assert.equal(await statusOf(url), 200);
  assert.equal((await chat.send('DELETE', at, undefined, headers)).status, 204);
  assert.equal(await statusOf(url), 404);
  assert.equal((await chat.send('POST', path, undefined, headers)).status, 400, 'nothing is left to share');
  const replaced = await shareAnswer('alice', { name: 'wages.md' });
  const fields = { name: 'wages.md', on_duplicate: 'replace' };
  await uploadText({ at: chat, headers }, 'The keeper gets nothing.', fields);
  assert.equal(await statusOf(replaced.url), 404);
});

test('a link ends for good when a document that it quotes is made private', async () => {
  const admin = await headersOf('admin');
  const fields = { name: 'open.md', visibility: 'everyone' };
  const { document } = await uploadText({ at: chat, headers: admin }, `${text} For all.`, fields);
  const bob = await headersOf('bob');
  const filters = { document_ids: [document.document_id] };
  const { json } = await chat.send('POST', '/api/chat', { query: question, filters }, bob);
  const shared = await chat.send('POST', `/api/session/${json.session_id}/share`, undefined, bob);
  assert.equal(await statusOf(shared.json.url), 200);
  const change = async (visibility: string) =>
    chat.send('PATCH', `/api/documents/${document.document_id}`, { visibility }, admin);
  assert.equal((await change('private')).status, 200);
  assert.equal(await statusOf(shared.json.url), 404);
  assert.equal((await change('everyone')).status, 200);
  assert.equal(await statusOf(shared.json.url), 404);
});

test('a link ends with the account of its owner, and that of whose document it quotes', async () => {
  const walker = await signedIn(chat, provider, 'reader');
  const own = await shareAnswer('reader');
  const { document } = await shareAnswer('reader', { visibility: 'everyone' });
  const bob = await headersOf('bob');
  const filters = { document_ids: [document] };
  const { json } = await chat.send('POST', '/api/chat', { query: question, filters }, bob);
  const quoting = await chat.send('POST', `/api/session/${json.session_id}/share`, undefined, bob);
  assert.equal(await statusOf(quoting.json.url), 200);
  await eraseAccount(chat, walker);
  assert.equal(await statusOf(own.url), 404);
  assert.equal(await statusOf(quoting.json.url), 404);
});

test('two who share at the same time get one link', async () => {
  const { path, headers } = await shareAnswer();
  await chat.send('DELETE', path, undefined, headers);
  const both = await Promise.all([chat, replica].map((each) => each.send('POST', path, undefined, headers)));
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 201]);
  assert.equal(new Set(both.map(({ json }) => new URL(json.url).pathname)).size, 1);
});

test('where everybody needs a key, strangers read a shared chat, as often as others read', async () => {
  const keyed = { GATEWAY_AUTH: 'api_key', CHAT_API_KEYS: 'alice', READ_RATE_LIMIT: '2' };
  await using guarded = await startChat({ environment: keyed });
  const key = { 'x-api-key': 'alice' };
  await guarded.upload([{ name: 'payslip-77.md', content: text }], {}, key);
  const { json } = await guarded.send('POST', '/api/chat', { query: question }, key);
  const path = `/api/session/${json.session_id}/share`;
  const { url } = (await guarded.send('POST', path, undefined, key)).json;
  const statuses = [];
  for (let visit = 0; visit < 3; visit++) statuses.push((await read(url)).status);
  assert.deepEqual(statuses, [200, 200, 429]);
});
