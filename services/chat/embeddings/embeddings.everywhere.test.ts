import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '@octavo/core';
import { openServiceDatabase } from '@octavo/data/service';
import { until } from '@octavo/testing';
import { Registry } from 'prom-client';
import { chat as service } from '../service.ts';
import type { Tables } from '../tables.ts';
import { startChat, type TestChat } from '../testing.ts';
import { byMeaning, meaningOf, startEmbeddings, type TestEmbeddings } from '../testing-embeddings.ts';

const model = { EMBEDDING_MODEL: 'scripted', EMBEDDING_API_KEY: 'the key of the service' };
const ferries = { name: 'ferries.txt', content: 'The ferry leaves at nine.' };
const holidays = { name: 'holidays.txt', content: 'Everybody has 27 days of vacation.' };
const bakers = { name: 'bakers.txt', content: 'The bakery opens at six.' };

const start = (server: TestEmbeddings, more: object = {}) =>
  startChat({ environment: { ...model, EMBEDDING_BASE_URL: server.url, ...more } });

/** Waits until the service reports a certain state of its vectors. */
function embeddingWhen(chat: TestChat, isSo: (info: Info) => boolean): Promise<Info> {
  return until(async () => {
    const { embedding } = (await chat.send('GET', '/api/system/info')).json as { embedding: Info };
    return isSo(embedding) && embedding;
  });
}

interface Info {
  readonly model: string;
  readonly dimensions: number | null;
  readonly available: boolean;
  readonly chunks: number;
  readonly embedded: number;
}

const isFilled = ({ chunks, embedded }: Info) => chunks > 0 && chunks === embedded;

async function search(chat: TestChat, query: string, strategy = 'hybrid') {
  const { json } = await chat.send('POST', '/api/search', { query, strategy });
  const sources: string[] = json.results.map(({ source }: { source: string }) => source);
  return { sources, results: json.results, metadata: json.metadata };
}

async function storedVectors(chat: TestChat): Promise<{ model: number; chunk: number }[]> {
  const config = readConfig(service.settings, chat.environment);
  await using database = await openServiceDatabase<Tables>(service, config, chat.context);
  return await database.kysely.selectFrom('chunk_embedding').select(['model', 'chunk']).execute();
}

test('documents are found by what they mean, once their vectors are there', async () => {
  await using server = await startEmbeddings();
  await using chat = await start(server);
  await chat.upload([ferries, holidays, bakers]);
  const info = await embeddingWhen(chat, isFilled);
  assert.deepEqual(
    { ...info },
    {
      provider: 'openai-compatible',
      model: 'scripted',
      dimensions: 8,
      available: true,
      chunks: 3,
      embedded: 3,
    },
  );
  for (const strategy of ['semantic', 'hybrid', 'multi_query', 'decomposed']) {
    const { sources, results, metadata } = await search(chat, 'When does my boat go?', strategy);
    assert.equal(sources[0], 'ferries.txt', strategy);
    assert.deepEqual(results[0].matched_by, ['vector']);
    assert.deepEqual(
      [metadata.embedding_model, metadata.strategy_used, metadata.warnings],
      ['scripted', strategy, []],
    );
  }
  const { json: turn } = await chat.send('POST', '/api/chat', { query: 'How much holiday do I get?' });
  assert.equal(turn.sources[0].source, 'holidays.txt');
  assert.deepEqual([turn.metadata.embedding_model, turn.metadata.warnings], ['scripted', []]);
  assert.ok(server.calls.every(({ authorization }) => authorization === 'Bearer the key of the service'));
  const metrics = (await chat.send('GET', '/metrics')).text;
  assert.match(metrics, /chat_embedding_chunks\{state="embedded"\} 3/);
  assert.match(metrics, /chat_embedding_requests_total\{purpose="question",outcome="ok"\} [1-9]/);
});

test('the vector of a question is asked for once', async () => {
  await using server = await startEmbeddings();
  await using chat = await start(server);
  await chat.upload([ferries]);
  await embeddingWhen(chat, isFilled);
  server.calls.length = 0;
  for (const _ of [1, 2, 3]) await search(chat, 'Which boat?');
  assert.deepEqual(
    server.calls.map(({ input }) => input),
    [['Which boat?']],
  );
});

test('a service that fails, hangs or talks nonsense leaves the words, and says so', async () => {
  await using server = await startEmbeddings();
  await using chat = await start(server, { EMBEDDING_TIMEOUT_MS: '1000' });
  await chat.upload([ferries, holidays]);
  await embeddingWhen(chat, isFilled);
  const cases: [problem: RegExp, script: TestEmbeddings['script']][] = [
    [/answered with status 500/, (reply) => reply.fail(500)],
    [/took too long/, () => {}],
    [
      /vectors of 9 dimensions, not of 8/,
      (reply, { input }) => reply.vectors(input.map((text) => meaningOf(text, 9))),
    ],
    [/0 vectors for 1 texts/, (reply) => reply.vectors([])],
    [
      /no direction/,
      (reply, { input }) => reply.vectors(input.map(() => Array.from({ length: 8 }, () => 0))),
    ],
    [/something else than vectors/, (reply) => reply.raw('{"data":[{"embedding":[NaN,1,2,3,4,5,6,7]}]}')],
    [/something else than vectors/, (reply) => reply.raw('{"data":[{"embedding":[1e999,1,2,3,4,5,6,7]}]}')],
    [/something else than vectors/, (reply) => reply.raw('<html>')],
  ];
  for (const [index, [problem, script]] of cases.entries()) {
    server.script = script;
    for (const strategy of ['semantic', 'hybrid']) {
      chat.clock.advance(60_000);
      const { sources, metadata } = await search(chat, `Does the ferry leave? ${index}`, strategy);
      assert.equal(sources[0], 'ferries.txt');
      assert.match(metadata.warnings[0], problem);
      assert.doesNotMatch(JSON.stringify(metadata), /127\.0\.0\.1|the key/);
      assert.deepEqual([metadata.embedding_model, metadata.strategy_used], ['builtin-hash', 'hybrid']);
    }
  }
  const { json: turn } = await chat.send('POST', '/api/chat', {
    query: 'How many days of vacation do I have?',
  });
  assert.match(turn.answer, /27 days of vacation/);
  assert.match(turn.metadata.warnings[0], /The embedding service is not answering/);
  assert.equal((await chat.send('GET', '/readyz')).status, 200);
  const info = await embeddingWhen(chat, () => true);
  assert.equal(info.available, false);
  assert.doesNotMatch(JSON.stringify(info), /127\.0\.0\.1|the key/);
  // The pause of questions is over, and the service is back.
  server.script = byMeaning;
  chat.clock.advance(60_000);
  const { sources, metadata } = await search(chat, 'Which boat is it?', 'semantic');
  assert.deepEqual(
    [sources[0], metadata.embedding_model, metadata.warnings],
    ['ferries.txt', 'scripted', []],
  );
});

test('documents are found by their words while the service is down, and by vectors when it is back', async () => {
  await using server = await startEmbeddings();
  server.script = (reply) => reply.fail(503);
  await using chat = await start(server);
  await chat.upload([ferries, holidays]);
  await embeddingWhen(chat, ({ available }) => !available);
  const before = await search(chat, 'ferry', 'semantic');
  assert.equal(before.sources[0], 'ferries.txt');
  assert.match(before.metadata.warnings[0], /Some documents have no vectors of scripted yet/);
  assert.deepEqual(
    [before.metadata.embedding_model, before.metadata.strategy_used],
    ['builtin-hash', 'hybrid'],
  );
  server.script = byMeaning;
  chat.clock.advance(60_000);
  await embeddingWhen(chat, isFilled);
  assert.equal((await search(chat, 'boat', 'semantic')).sources[0], 'ferries.txt');
});

test('another model gives all documents new vectors, and the old ones go', async () => {
  await using server = await startEmbeddings();
  await using first = await start(server);
  await first.upload([ferries, holidays]);
  await embeddingWhen(first, isFilled);
  const before = await storedVectors(first);
  assert.equal(before.length, 2);
  const config = readConfig(service.settings, {
    ...first.environment,
    EMBEDDING_MODEL: 'another',
    EMBEDDING_DIMENSIONS: '16',
  });
  await using running = await service.start(config, { ...first.context, metrics: new Registry() }, {});
  const second = { ...first, send: sender(running.url ?? '') } as TestChat;
  const info = await embeddingWhen(second, isFilled);
  assert.deepEqual([info.model, info.dimensions], ['another', 16]);
  assert.ok(server.calls.some(({ model, dimensions }) => model === 'another' && dimensions === 16));
  assert.equal((await search(second, 'boat', 'semantic')).sources[0], 'ferries.txt');
  await until(async () => new Set((await storedVectors(first)).map(({ model }) => model)).size === 1);
  const after = await storedVectors(first);
  assert.deepEqual(after.map(({ chunk }) => chunk).sort(), before.map(({ chunk }) => chunk).sort());
  assert.notEqual(after[0]?.model, before[0]?.model);
  // The first process, with the old model, does not take them back.
  const words = await search(first, 'ferry');
  assert.deepEqual([words.sources[0], words.metadata.embedding_model], ['ferries.txt', 'builtin-hash']);
});

function sender(url: string): TestChat['send'] {
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      body: body === undefined ? null : JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text) };
  };
}

test('vectors go with their document', async () => {
  await using server = await startEmbeddings();
  await using chat = await start(server);
  const uploaded = await chat.upload([ferries, bakers]);
  await embeddingWhen(chat, isFilled);
  const id = uploaded.json.documents[0].document_id;
  assert.equal((await chat.send('DELETE', `/api/documents/${id}`)).status, 204);
  assert.equal((await storedVectors(chat)).length, 1);
  assert.deepEqual((await search(chat, 'the boat', 'semantic')).sources, ['bakers.txt']);
  const again = await chat.send('POST', `/api/documents/${uploaded.json.documents[1].document_id}/reindex`);
  assert.equal(again.status, 200);
  await embeddingWhen(chat, isFilled);
  assert.equal((await search(chat, 'loaf', 'semantic')).sources[0], 'bakers.txt');
});

test('a passage that the service refuses is cut, or found by its words only', async () => {
  await using server = await startEmbeddings();
  server.script = (reply, call) => {
    const isRefused = call.input.some((text) => text.includes('poison') || text.length > 300);
    if (isRefused) reply.fail(400);
    else byMeaning(reply, call);
  };
  await using chat = await start(server);
  const long = `The loaf is rye. ${'It is baked. '.repeat(30)}`;
  await chat.upload([
    ferries,
    { name: 'long.txt', content: long },
    { name: 'poison.txt', content: 'A poison ship.' },
  ]);
  await embeddingWhen(chat, isFilled);
  assert.equal((await search(chat, 'bakery', 'semantic')).sources[0], 'long.txt');
  assert.equal((await search(chat, 'boat', 'semantic')).sources[0], 'ferries.txt');
  assert.equal((await search(chat, 'poison')).sources[0], 'poison.txt');
});
