import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { readConfig } from '@octavo/core';
import { openServiceDatabase } from '@octavo/data/service';
import { until } from '@octavo/testing';
import { chat as service } from '../service.ts';
import type { Tables } from '../tables.ts';
import { startChat, type TestChat } from '../testing.ts';
import { startEmbeddings } from '../testing-embeddings.ts';

const holidays = { name: 'holidays.txt', content: 'Everybody has 27 days of vacation.' };
const ferries = { name: 'ferries.txt', content: 'The vessel departs at nine in the morning.' };
const bakers = { name: 'bakers.txt', content: 'The bakery opens at six.' };
const german = {
  name: 'urlaub.txt',
  content: 'Wer hier arbeitet, hat im Jahr 27 Tage Urlaub und bekommt an Feiertagen frei.',
};
const start = (more: object = {}, beside?: TestChat) =>
  startChat({ environment: { CHAT_EMBEDDINGS: 'local', ...more }, beside });

/** The ids of the encoders that this process started. */
function encoders(): number[] {
  const found = spawnSync('pgrep', ['-P', String(process.pid), '-f', 'encode-process'], { encoding: 'utf8' });
  return found.stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map(Number);
}

async function infoOf(chat: TestChat) {
  return (await chat.send('GET', '/api/system/info')).json.embedding;
}

/** Waits until all passages have been looked at. */
async function filled(chat: TestChat, chunks: number) {
  return until(async () => {
    // Its jobs wait for the time after a failure to be over.
    chat.clock.advance(1_000);
    const info = await infoOf(chat);
    return info.embedded >= chunks && info.embedded === info.chunks && info;
  });
}

async function search(chat: TestChat, query: string, strategy = 'semantic') {
  const { json } = await chat.send('POST', '/api/search', { query, strategy });
  const sources: string[] = json.results.map(({ source }: { source: string }) => source);
  return { sources, metadata: json.metadata };
}

/** The models and the sizes of the vectors that are stored. */
async function storedVectors(chat: TestChat): Promise<{ chunk: number; name: string; bytes: number }[]> {
  const config = readConfig(service.settings, chat.environment);
  await using database = await openServiceDatabase<Tables>(service, config, chat.context);
  const rows = await database.kysely
    .selectFrom('chunk_embedding')
    .innerJoin('embedding_model', 'embedding_model.id', 'chunk_embedding.model')
    .select(['chunk', 'name', 'vector'])
    .orderBy('chunk')
    .execute();
  return rows.map(({ chunk, name, vector }) => ({ chunk, name, bytes: vector.length }));
}

test('passages are found by what they mean, by an encoder that starts when somebody uses the chat', async () => {
  await using chat = await start();
  await chat.send('GET', '/documents');
  assert.deepEqual(encoders(), []);
  await chat.upload([holidays, ferries, bakers]);
  const info = await filled(chat, 3);
  assert.deepEqual(
    { ...info },
    {
      provider: 'local',
      model: 'universal-sentence-encoder-lite',
      dimensions: 512,
      available: true,
      chunks: 3,
      embedded: 3,
    },
  );
  assert.equal(encoders().length, 1);
  for (const strategy of ['semantic', 'hybrid']) {
    const { sources, metadata } = await search(chat, 'When can I board the ship?', strategy);
    assert.equal(sources[0], 'ferries.txt', strategy);
    assert.deepEqual(
      [metadata.embedding_model, metadata.strategy_used, metadata.warnings],
      ['universal-sentence-encoder-lite', strategy, []],
    );
  }
  await chat[Symbol.asyncDispose]();
  assert.deepEqual(encoders(), []);
});

test('an encoder that is killed in the middle goes on where it was', async () => {
  await using chat = await start();
  const paragraphs = Array.from(
    { length: 60 },
    (_, n) => `# Part ${n}\n\nRoom ${n} has ${n + 2} chairs and a view. It is open.`,
  );
  await chat.upload([{ name: 'rooms.md', content: paragraphs.join('\n\n') }]);
  const pid = await until(() => encoders()[0]);
  process.kill(pid, 'SIGSTOP');
  const page = until(async () => {
    const text = (await chat.send('GET', '/documents')).text;
    return text.includes('Learning what the passages mean') && text;
  });
  assert.match(await page, /<progress[^>]* max="\d+"/);
  process.kill(pid, 'SIGCONT');
  await until(async () => (await storedVectors(chat)).length > 0);
  process.kill(pid, 'SIGKILL');
  const { chunks } = await filled(chat, 24);
  const stored = await storedVectors(chat);
  assert.equal(stored.length, chunks);
  assert.ok(stored.every(({ bytes }) => bytes === 4 * 512));
  assert.doesNotMatch((await chat.send('GET', '/documents')).text, /Learning what/);
});

test('texts of other languages have no vectors, and questions in them are asked by their words', async () => {
  await using chat = await start({ CHAT_EMBEDDINGS: 'auto' });
  await chat.upload([german, holidays]);
  await filled(chat, 2);
  const sizes = (await storedVectors(chat)).map(({ bytes }) => bytes).sort();
  assert.deepEqual(sizes, [0, 4 * 512]);
  const asked = 'Wie viele Tage Urlaub habe ich im Jahr?';
  const semantic = await search(chat, asked);
  assert.equal(semantic.sources[0], 'urlaub.txt');
  assert.equal(semantic.metadata.strategy_used, 'hybrid');
  assert.match(semantic.metadata.warnings[0], /The encoder knows English only/);
  const hybrid = await search(chat, asked, 'hybrid');
  assert.deepEqual([hybrid.sources[0], hybrid.metadata.warnings], ['urlaub.txt', []]);
});

test('two replicas that encode the same documents store each vector once', async () => {
  await using first = await start();
  await using second = await start({}, first);
  await Promise.all([first.upload([holidays, ferries]), second.upload([bakers, german])]);
  await Promise.all([search(first, 'boat'), search(second, 'boat')]);
  await Promise.all([filled(first, 4), filled(second, 4)]);
  const stored = await storedVectors(first);
  assert.deepEqual([stored.length, new Set(stored.map(({ chunk }) => chunk)).size], [4, 4]);
  assert.equal((await search(second, 'When can I board the ship?')).sources[0], 'ferries.txt');
});

test('the encoder takes the place of a service, and documents get its vectors', async () => {
  await using server = await startEmbeddings();
  await using before = await start({ EMBEDDING_BASE_URL: server.url, EMBEDDING_MODEL: 'scripted' });
  await before.upload([holidays, ferries]);
  await filled(before, 2);
  assert.deepEqual(
    (await storedVectors(before)).map(({ name }) => name),
    ['scripted', 'scripted'],
  );
  await using chat = await start({}, before);
  await search(chat, 'Which ship?');
  await filled(chat, 2);
  await until(async () => (await storedVectors(chat)).every(({ name }) => name !== 'scripted'));
  assert.equal((await search(chat, 'When can I board the ship?')).sources[0], 'ferries.txt');
});

test('without the encoder all works by words', async () => {
  await using chat = await start({ CHAT_EMBEDDINGS: 'off' });
  await chat.upload([holidays]);
  const { sources, metadata } = await search(chat, 'How much vacation is there?', 'semantic');
  assert.deepEqual([sources, metadata.warnings], [['holidays.txt'], []]);
  assert.deepEqual(encoders(), []);
});
