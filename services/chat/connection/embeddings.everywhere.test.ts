import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { FakeClock } from '@octavo/core';
import { until } from '@octavo/testing';
import { embeddingService } from '../embeddings/index.ts';
import { startChat, type TestChat } from '../testing.ts';
import { byMeaning, startEmbeddings, type TestEmbeddings } from '../testing-embeddings.ts';
import { openSettings, startServer } from '../testing-settings.ts';
import { checkConnections } from './check.ts';
import { tryEmbeddings } from './index.ts';

const ferries = { name: 'ferries.txt', content: 'The ferry leaves at nine.' };
const holidays = { name: 'holidays.txt', content: 'Everybody has 27 days of vacation.' };

async function infoOf(chat: TestChat) {
  return (await chat.send('GET', '/api/system/info')).json.embedding;
}

/** Waits until all passages have vectors of a model. */
function filledBy(chat: TestChat, model: string) {
  return until(async () => {
    const info = await infoOf(chat);
    return info.model === model && info.chunks > 0 && info.embedded === info.chunks;
  });
}

async function search(chat: TestChat, query: string) {
  const { json } = await chat.send('POST', '/api/search', { query, strategy: 'semantic' });
  return [json.results[0]?.source, json.metadata.embedding_model, json.metadata.strategy_used];
}

/** Connects a model of the server, and confirms it. */
async function connect(chat: TestChat, { url }: TestEmbeddings, model: string, key = '') {
  const { post } = await openSettings(chat, 'embeddings');
  const { sealed } = await post({ deed: 'list', address: url, key });
  const chosen = { deed: 'save', address: url, sealed, model };
  const { status } = await post({ ...chosen, confirmed: model });
  assert.equal(status, 303);
}

test('embeddings are connected after a confirmation, and all replicas take them over', async () => {
  await using server = await startEmbeddings();
  await using chat = await startChat();
  await using replica = await startChat({ beside: chat });
  await chat.upload([ferries, holidays]);
  const settings = await openSettings(chat, 'embeddings');
  assert.match(settings.page, /CHAT_EMBEDDINGS turns the encoder of this machine off/);
  const address = server.url.replace(/\/v1$/, '');
  const listed = await settings.post({ deed: 'list', address, key: 'sk-secret' });
  assert.match(listed.text, /<option value="another"/);
  assert.doesNotMatch(listed.text, /sk-secret/);
  const chosen = { address: server.url, sealed: listed.sealed, model: 'scripted' };
  const tried = await settings.post({ deed: 'try', ...chosen });
  assert.match(tried.text, /Vectors of 8 dimensions came within \d+ ms/);
  const asked = await settings.post({ deed: 'save', ...chosen });
  assert.equal(asked.status, 200);
  assert.match(asked.text, /Make new vectors with scripted\?[\s\S]*2 passages get a new vector/);
  assert.equal((await infoOf(replica)).provider, 'builtin');
  assert.equal((await settings.post({ deed: 'save', ...chosen, confirmed: 'another' })).status, 200);
  assert.equal((await settings.post({ deed: 'save', ...chosen, confirmed: 'scripted' })).status, 303);
  for (const each of [chat, replica]) {
    await filledBy(each, 'scripted');
    assert.deepEqual(await search(each, 'Which boat?'), ['ferries.txt', 'scripted', 'semantic']);
  }
  assert.ok(server.calls.every(({ authorization }) => authorization === 'Bearer sk-secret'));
  const numbers = (await replica.send('GET', '/metrics')).text;
  assert.match(numbers, /^chat_model_server\{kind="embeddings",model="scripted",.*source="page".*\} 1$/m);
  assert.match(numbers, /chat_embedding_chunks\{state="embedded"\} 2/);
  const page = await (await settings.get()).text();
  assert.match(page, /2 of 2 passages/);
  // The same model with another key is not made again.
  const keyed = await settings.post({ deed: 'list', address: server.url, key: 'sk-other' });
  assert.equal((await settings.post({ deed: 'save', ...chosen, sealed: keyed.sealed })).status, 303);
  server.calls.length = 0;
  assert.deepEqual(await search(replica, 'Whose vessel?'), ['ferries.txt', 'scripted', 'semantic']);
  assert.deepEqual(
    server.calls.map(({ authorization }) => authorization),
    ['Bearer sk-other'],
  );
});

test('another model makes all vectors again, and the metrics go on', async () => {
  await using server = await startEmbeddings();
  await using chat = await startChat();
  await using replica = await startChat({ beside: chat });
  await connect(chat, server, 'scripted');
  await chat.upload([ferries, holidays]);
  await filledBy(chat, 'scripted');
  await connect(chat, server, 'another');
  // Without a question, the replica learns of it too.
  await filledBy(replica, 'another');
  await filledBy(chat, 'another');
  for (const each of [chat, replica]) {
    assert.deepEqual(await search(each, 'a boat'), ['ferries.txt', 'another', 'semantic']);
    const numbers = (await each.send('GET', '/metrics')).text;
    assert.match(numbers, /chat_embedding_chunks\{state="embedded"\} 2/);
  }
  const settings = await openSettings(replica, 'embeddings');
  const asked = await settings.post({ deed: 'remove' });
  assert.match(asked.text, /Disconnect another\?[\s\S]*found by their words alone/);
  assert.equal((await infoOf(chat)).model, 'another');
  assert.equal((await settings.post({ deed: 'remove', confirmed: 'yes' })).status, 303);
  for (const each of [chat, replica]) assert.equal((await infoOf(each)).provider, 'builtin');
  assert.deepEqual(await search(chat, 'ferry'), ['ferries.txt', 'builtin-words', 'semantic']);
});

test('a model that is replaced while it makes vectors leaves none behind', async () => {
  await using server = await startEmbeddings();
  await using chat = await startChat();
  await chat.upload([ferries, holidays]);
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  server.script = async (reply, call) => {
    if (call.model === 'scripted' && call.input.length === 2) {
      begun.resolve();
      await held.promise;
    }
    byMeaning(reply, call);
  };
  await using replica = await startChat({ beside: chat });
  await connect(chat, server, 'scripted');
  await begun.promise;
  assert.deepEqual(await search(chat, 'ferry'), ['ferries.txt', 'builtin-hash', 'hybrid']);
  await connect(replica, server, 'another');
  held.resolve();
  for (const each of [chat, replica]) {
    await filledBy(each, 'another');
    assert.deepEqual(await search(each, 'a boat'), ['ferries.txt', 'another', 'semantic']);
  }
});

test('a hostile server of vectors is given up in words, is not kept, and its texts go nowhere else', async () => {
  await using other = await startServer((_, response) => response.end('{}'));
  const vectors = (...all: readonly unknown[][]) =>
    JSON.stringify({ data: all.map((embedding, index) => ({ index, embedding })) });
  const cases: [RegExp, string | ((response: ServerResponse) => unknown)][] = [
    [
      /cannot be reached/,
      (response) => response.writeHead(307, { location: `${other.url}/embeddings` }).end(),
    ],
    [/answered with status 401/, (response) => response.writeHead(401).end()],
    [/cannot be reached/, (response) => response.destroy()],
    [/gave something else than vectors/, `{"data":"${'x'.repeat(17 * 1024 * 1024)}"}`],
    [/gave something else than vectors/, '<html>'],
    [/gave something else than vectors/, '{"data":[{"embedding":[NaN,1]}]}'],
    [/gave 2 vectors for 3 texts/, vectors([1, 0], [0, 1])],
    [/gave 4 vectors for 3 texts/, vectors([1, 0], [0, 1], [1, 1], [1, 2])],
    [/gave vectors of 3 dimensions, not of 2/, vectors([1, 0], [0, 1], [1, 1, 1])],
    [/gave vectors of 0 dimensions/, vectors([], [], [])],
    [/gave a vector that is no direction/, vectors([1, 0], [0, 0], [1, 1])],
  ];
  await using chat = await startChat();
  await chat.upload([ferries]);
  const { post, get } = await openSettings(chat, 'embeddings');
  for (const [words, answer] of cases) {
    await using server = await startServer((request, response) => {
      if (request.method === 'GET') response.end('{"data":[{"id":"small"}]}');
      else if (typeof answer === 'function') answer(response);
      else response.setHeader('content-type', 'application/json').end(answer);
    });
    for (const deed of ['try', 'save']) {
      const { status, text } = await post({ deed, address: server.url, model: 'small' });
      assert.deepEqual([status, words.test(text)], [502, true], `${deed} ${words}: ${text}`);
    }
  }
  assert.deepEqual(other.seen, []);
  assert.doesNotMatch(await (await get()).text(), /small/);
  await using slow = await startServer((_, response) => response.write('{"data":['));
  const source = embeddingService({ baseUrl: slow.url, apiKey: '', model: 'small', dimensions: undefined });
  await assert.rejects(tryEmbeddings(source, new FakeClock(), 100), /The embedding service took too long/);
});

test('the environment decides where it names a server of vectors', async () => {
  await using server = await startEmbeddings();
  const environment = { EMBEDDING_BASE_URL: server.url, EMBEDDING_MODEL: 'scripted' };
  await using chat = await startChat({ environment });
  const { page, post } = await openSettings(chat, 'embeddings');
  assert.match(page, /EMBEDDING_BASE_URL<\/code> is set/);
  assert.doesNotMatch(page, /name="address"/);
  const save = { deed: 'save', address: server.url, model: 'another', confirmed: 'another' };
  assert.equal((await post(save)).status, 409);
  assert.equal((await post({ deed: 'remove', confirmed: 'yes' })).status, 409);
  assert.equal((await infoOf(chat)).model, 'scripted');
});

test('connected embeddings are checked beside the running service', async () => {
  await using server = await startEmbeddings();
  await using chat = await startChat();
  await connect(chat, server, 'scripted', 'sk-secret');
  const { log, dataFolder: folder } = chat.context;
  const database = { log, folder, migrations: [], name: 'chat', url: chat.environment.DATABASE_URL };
  const place = { database, secret: chat.environment.CHAT_SECRET, secretFile: 'none' };
  const check = async () =>
    (await checkConnections({}, place, chat.clock))?.map(({ text, isWorking }) => [isWorking, text]);
  assert.deepEqual(await check(), [[true, 'scripted is there, with vectors of 8 dimensions']]);
  server.script = (reply) => reply.fail(500);
  assert.deepEqual(await check(), [[false, 'The embedding service answered with status 500']]);
  server.models = ['another'];
  assert.deepEqual(await check(), [[false, 'The server does not have scripted']]);
});
