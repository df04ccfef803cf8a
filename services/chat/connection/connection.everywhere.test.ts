import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { testMode, until } from '@octavo/testing';
import { SignJWT } from 'jose';
import { startChat } from '../testing.ts';
import { startModel } from '../testing-model.ts';
import { startPeople } from '../testing-people.ts';
import { cookiesOf, listing, openSettings, startServer } from '../testing-settings.ts';
import { checkConnections } from './check.ts';
import { findServers, listModels, toAddress } from './index.ts';

const question = { query: 'When does the office open on Fridays?' };

test('an administrator connects a model, which writes the answers of all replicas', async () => {
  await using model = await startModel();
  model.about = { '/v1/models': { data: [{ id: 'scripted' }] } };
  model.script = (answer) => answer.text('At 9:00', ' on Fridays [1].').end();
  await using chat = await startChat();
  await using replica = await startChat({ beside: chat });
  await chat.upload([{ name: 'hours.txt', content: 'The office opens at 9:00 on Fridays.' }]);
  const settings = await openSettings(chat);
  assert.match(settings.page, /None is connected/);
  assert.match(await (await fetch(chat.url)).text(), /Connect a model/);
  const address = model.url.replace(/\/v1$/, '');
  const listed = await settings.post({ deed: 'list', address, key: 'sk-secret' });
  assert.match(listed.text, /<option value="scripted"/);
  assert.doesNotMatch(listed.text, /sk-secret/);
  const chosen = { address: model.url, sealed: listed.sealed, model: 'scripted' };
  const tried = await settings.post({ deed: 'try', ...chosen });
  assert.match(tried.text, /First token after [\d.]+ s, then \d+ tokens a second/);
  assert.match(tried.text, /At 9:00 on Fridays/);
  assert.equal((await replica.send('POST', '/api/chat', question)).json.metadata.mode, 'extractive');
  assert.equal((await settings.post({ deed: 'save', ...chosen })).status, 303);
  for (const each of [chat, replica]) {
    const { json } = await each.send('POST', '/api/chat', question);
    assert.deepEqual([json.metadata.mode, json.metadata.model, json.kind], ['llm', 'scripted', 'generated']);
    const info = await each.send('GET', '/api/system/info');
    assert.equal(info.json.llm.configured, true);
    assert.equal((await each.send('GET', '/v1/models')).json.data[0].id, 'scripted');
  }
  const numbers = await (await fetch(`${replica.url}/metrics`)).text();
  assert.match(
    numbers,
    /^chat_model_server\{kind="llm",model="scripted",context="\d+",source="page",state="answers"\} 1$/m,
  );
  const saved = await (await settings.get()).text();
  assert.match(saved, /kept encrypted/);
  assert.doesNotMatch(saved, /sk-secret/);
  assert.equal((await settings.post({ deed: 'remove' })).status, 303);
  assert.equal((await replica.send('POST', '/api/chat', question)).json.metadata.mode, 'extractive');
});

test('what is connected is checked beside the running service, and no key is told', async () => {
  await using model = await startServer((request, response) =>
    request.headers.authorization === 'Bearer sk-secret'
      ? listing(request, response)
      : response.writeHead(401).end(),
  );
  await using chat = await startChat();
  const { log, dataFolder: folder } = chat.context;
  const place = { log, folder, migrations: [] };
  const at = { ...place, name: 'chat', url: chat.environment.DATABASE_URL };
  const check = async (changes: object = {}, settings: object = {}, database = at) => {
    const secret = chat.environment.CHAT_SECRET;
    const from = { database, secret, secretFile: 'none', ...changes };
    const checks = await checkConnections(settings, from, chat.clock);
    assert.doesNotMatch(JSON.stringify(checks ?? null), /sk-secret/);
    return checks?.map(({ source, text, isWorking }) => [isWorking, `${source}: ${text}`]);
  };
  assert.equal(await check({}, {}, { ...at, name: 'chat_of_tomorrow' }), undefined);
  assert.deepEqual(await check(), []);
  const settings = await openSettings(chat);
  const { sealed } = await settings.post({ deed: 'list', address: model.url, key: 'sk-secret' });
  await settings.post({ deed: 'save', address: model.url, sealed, model: 'small' });
  assert.deepEqual(await check(), [[true, 'language model of /settings: small is there']]);
  assert.deepEqual(await check({ secret: 'another secret, which is long enough too' }), [
    [false, 'language model of /settings: The key was encrypted with another CHAT_SECRET'],
  ]);
  assert.deepEqual(await check({}, { LLM_BASE_URL: model.url }), [
    [true, 'language model of /settings: not used, as LLM_BASE_URL is set'],
  ]);
  const reranker = await openSettings(chat, 'reranker');
  await reranker.post({ deed: 'save', address: 'http://127.0.0.1:1', model: '' });
  await settings.post({ deed: 'save', address: model.url, sealed, model: 'gone' });
  assert.deepEqual(await check(), [
    [false, 'language model of /settings: The server does not have gone'],
    [false, 'reranker of /settings: The reranker cannot be reached'],
  ]);
});

test('how the last request to a model ended is in the metrics, without its address and key', async () => {
  await using model = await startServer((_request, response) => response.writeHead(401).end());
  const LLM = { LLM_BASE_URL: model.url, LLM_MODEL: 'small', LLM_API_KEY: 'sk-secret' };
  await using chat = await startChat({ environment: LLM });
  const lines = async () => {
    const text = await (await fetch(`${chat.url}/metrics`)).text();
    for (const kept of ['sk-secret', new URL(model.url).host]) assert.ok(!text.includes(kept), kept);
    return text.split('\n').filter((line) => line.startsWith('chat_model_server{'));
  };
  const before = 'kind="llm",model="small",context="",source="environment",state=';
  const away = `chat_model_server{${before}"The server refuses the key."} 0`;
  assert.deepEqual(await until(async () => (await lines()).includes(away) && lines()), [away]);
  await chat.upload([{ name: 'hours.txt', content: 'The office opens at 9:00 on Fridays.' }]);
  await chat.send('POST', '/api/chat', question);
  const [line = '', ...others] = await lines();
  assert.match(line, /source="environment",state="The model’s server refuses the key: .*"\} 0$/);
  assert.deepEqual(others, []);
});

test('a server that does not list its model is known before a question meets it', async () => {
  await using server = await startServer(listing);
  const EMBEDDING = { EMBEDDING_BASE_URL: server.url, EMBEDDING_MODEL: 'small' };
  const environment = { ...EMBEDDING, LLM_BASE_URL: server.url, LLM_MODEL: 'small, gone' };
  await using chat = await startChat({ environment });
  const line = (kind: string, model: string, state: string) =>
    `chat_model_server{kind="${kind}",model="${model}",context="",source="environment",state="${state}"}`;
  const expected = [
    `${line('llm', 'small, gone', 'The server does not have gone.')} 0`,
    `${line('embeddings', 'small', 'is there')} 1`,
  ];
  await until(async () => {
    const text = await (await fetch(`${chat.url}/metrics`)).text();
    return expected.every((each) => text.includes(each));
  });
});

/** A server with the `/rerank` API that lists no models, and prefers passages with a word. */
const reranking = (word: string) => async (request: IncomingMessage, response: ServerResponse) => {
  if (request.url !== '/v1/rerank') return response.writeHead(404).end();
  const { documents } = JSON.parse(Buffer.concat(await request.toArray()).toString());
  const results = documents.map((text: string, index: number) => ({
    index,
    relevance_score: text.includes(word) ? 0.9 : 0.1,
  }));
  return response.end(JSON.stringify({ results }));
};

test('an administrator connects a reranker, which orders the passages of all replicas', async () => {
  await using server = await startServer(reranking('Fridays'));
  await using chat = await startChat();
  await using replica = await startChat({ beside: chat });
  await chat.upload([{ name: 'hours.txt', content: 'The office opens at 9:00 on Fridays.' }]);
  const settings = await openSettings(chat, 'reranker');
  assert.match(settings.page, /Connect a reranker/);
  const listed = await settings.post({ deed: 'list', address: server.url, key: 'sk-secret' });
  assert.match(listed.text, /Leave empty if the server has one model only/);
  assert.doesNotMatch(listed.text, /sk-secret/);
  const chosen = { address: server.url, sealed: listed.sealed, model: '' };
  const tried = await settings.post({ deed: 'try', ...chosen });
  assert.match(
    tried.text,
    /Two passages were ordered in \d+ ms[\s\S]*The passage that answers the question came first/,
  );
  assert.equal((await settings.post({ deed: 'save', ...chosen })).status, 303);
  for (const each of [chat, replica]) {
    const { json } = await each.send('POST', '/api/search', { query: question.query });
    assert.deepEqual([json.metadata.reranker, json.results[0].rerank_score], ['cross-encoder', 0.9]);
    const strategies = await each.send('GET', '/api/strategies');
    assert.equal(strategies.json.reranking.model, 'cross-encoder');
    assert.equal((await each.send('GET', '/api/system/info')).json.reranker.model, 'cross-encoder');
  }
  assert.deepEqual(new Set(server.seen), new Set(['Bearer sk-secret']));
  // The key of a reranker is not that of a model at the same address.
  const models = await openSettings(chat);
  assert.equal((await models.post({ deed: 'save', ...chosen, model: 'small' })).status, 400);
  assert.equal((await settings.post({ deed: 'remove' })).status, 303);
  const { json } = await replica.send('POST', '/api/search', { query: question.query });
  assert.equal(json.metadata.reranker, 'builtin-pair-features');
});

test('a hostile reranker is given up in words, and its passages go nowhere else', async () => {
  await using other = await startServer(reranking('Fridays'));
  const cases: [RegExp, (response: ServerResponse) => unknown][] = [
    [
      /The reranker cannot be reached/,
      (response) => response.writeHead(307, { location: `${other.url}/rerank` }).end(),
    ],
    [
      /gave something else than scores/,
      (response) => response.end(`{"results":"${'x'.repeat(2 * 1024 * 1024)}"}`),
    ],
    [/gave something else than scores/, (response) => response.end('<html>')],
    [/The reranker took too long/, (response) => response.write('{"results":[')],
    [/The reranker answered with status 401/, (response) => response.writeHead(401).end()],
  ];
  await using chat = await startChat();
  const { post } = await openSettings(chat, 'reranker');
  for (const [words, respond] of cases) {
    await using server = await startServer((request, response) => {
      if (request.method === 'GET') response.writeHead(404).end();
      else respond(response);
    });
    const { status, text } = await post({ deed: 'try', address: server.url, model: 'small' });
    assert.deepEqual([status, words.test(text)], [502, true], text);
  }
  assert.deepEqual(other.seen, []);
});

test('the key of one address is not sent to another', async () => {
  await using own = await startServer(listing);
  await using other = await startServer(listing);
  await using chat = await startChat();
  const settings = await openSettings(chat);
  const listed = await settings.post({ deed: 'list', address: own.url, key: 'sk-secret' });
  const chosen = { deed: 'save', sealed: listed.sealed, model: 'small' };
  const moved = await settings.post({ ...chosen, address: other.url });
  assert.equal(moved.status, 400);
  assert.match(moved.text, /The key was given for another address/);
  assert.equal((await settings.post({ ...chosen, address: own.url })).status, 303);
  await settings.post({ deed: 'list', address: own.url });
  await settings.post({ deed: 'list', address: other.url });
  assert.deepEqual(own.seen, ['Bearer sk-secret', 'Bearer sk-secret']);
  assert.deepEqual(other.seen, [undefined]);
  const without = { deed: 'save', address: other.url, model: 'small' };
  assert.equal((await settings.post(without)).status, 303);
  await settings.post({ deed: 'list', address: own.url });
  assert.equal(own.seen.at(-1), undefined);
});

test('hostile servers are given up in words', async () => {
  await using target = await startServer(listing);
  const cases: [RegExp, (request: IncomingMessage, response: ServerResponse) => void][] = [
    [/is not followed/, (_, response) => response.writeHead(307, { location: `${target.url}/models` }).end()],
    [/is no list of models/, (_, response) => response.end(`{"data":"${'x'.repeat(2 * 1024 * 1024)}"}`)],
    [/is no list of models/, (_, response) => response.end('<html>')],
    [/is no list of models/, (_, response) => response.end('null')],
    [/has no model yet/, (_, response) => response.end('{"data":[null,{"id":7},{"id":"a,b"}]}')],
    [/refuses the key/, (_, response) => response.writeHead(401).end()],
  ];
  for (const [words, respond] of cases) {
    await using server = await startServer(respond);
    await assert.rejects(listModels(server.url, 'sk-secret', 60_000), {
      name: 'ServerProblem',
      message: words,
    });
  }
  assert.deepEqual(target.seen, []);
  await using slow = await startServer((_, response) => response.write('{"data":['));
  await assert.rejects(listModels(slow.url, undefined, 100), /too long/);
  await assert.rejects(listModels('http://127.0.0.1:1/v1', undefined), /No server answers/);
  for (const address of ['', 'ftp://a', 'http://u:p@a/v1', 'http://a/v1?key=1', 'http://169.254.169.254/v1'])
    await assert.rejects(toAddress(address), { code: 'validation_failed' });
  assert.equal(await toAddress(' 127.0.0.1:11434/v1/ '), 'http://127.0.0.1:11434/v1');
});

test('servers of this machine are found', async () => {
  await using server = await startServer(listing);
  const port = Number(new URL(server.url).port);
  const found = await findServers([1, port]);
  assert.deepEqual(found, [{ baseUrl: server.url, models: ['small', 'large'] }]);
});

test('the page is for administrators, or for this machine where nobody can sign in', async () => {
  await using chat = await startChat();
  const { get } = await openSettings(chat);
  assert.equal((await get({ 'x-forwarded-for': '203.0.113.7' })).status, 403);
  const people = await startPeople();
  await using _provider = people.provider;
  await using open = await startChat({ environment: people.signIn });
  assert.equal((await openSettings(open)).status, 403);
  await using keyed = await startChat({ environment: { GATEWAY_AUTH: 'api_key', CHAT_API_KEYS: 'alice' } });
  assert.equal((await openSettings(keyed)).status, 401);
  const secret = 'a secret for tokens that is long enough';
  await using signed = await startChat({ environment: { GATEWAY_AUTH: 'jwt', CHAT_JWT_SECRET: secret } });
  const statusFor = async (claims: object) => {
    const token = new SignJWT({ sub: 'alice', ...claims }).setProtectedHeader({ alg: 'HS256' });
    const key = await token.setExpirationTime(signed.clock.now() / 1_000 + 600).sign(Buffer.from(secret));
    const form = await fetch(`${signed.url}/sign-in`, { headers: { accept: 'text/html' } });
    const before = cookiesOf(form);
    const [, csrf = ''] = /name="_csrf" value="([^"]+)"/.exec(await form.text()) ?? [];
    const body = new URLSearchParams({ _csrf: csrf, key });
    const headers = { origin: signed.url, cookie: before };
    const signIn = { method: 'POST', body, headers, redirect: 'manual' } as const;
    const cookie = `${before}; ${cookiesOf(await fetch(`${signed.url}/sign-in`, signIn))}`;
    return (await fetch(`${signed.url}/settings`, { headers: { accept: 'text/html', cookie } })).status;
  };
  assert.equal(await statusFor({}), 403);
  assert.equal(await statusFor({ role: 'admin' }), 200);
});

test('the environment decides where it names a model', async () => {
  await using model = await startModel();
  await using chat = await startChat({ environment: { LLM_BASE_URL: model.url, LLM_MODEL: 'scripted' } });
  const settings = await openSettings(chat);
  assert.match(settings.page, /The environment decides/);
  assert.doesNotMatch(settings.page, /name="address"/);
  await using reranked = await startChat({ environment: { RERANK_BASE_URL: 'http://127.0.0.1:1' } });
  const { page, post } = await openSettings(reranked, 'reranker');
  assert.match(page, /RERANK_BASE_URL<\/code> is set/);
  assert.doesNotMatch(page, /name="address"/);
  assert.equal((await post({ deed: 'remove' })).status, 409);
});

test('replicas need a secret of their own choice', async () => {
  await using chat = await startChat({ environment: { CHAT_SECRET: '' } });
  const isShared = (await testMode()).databaseUrl !== undefined;
  const { page } = await openSettings(chat);
  assert.equal(/Set CHAT_SECRET first/.test(page), isShared);
});
