import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { FakeClock } from '@octavo/core';
import { testFolder, until } from '@octavo/testing';
import { evaluateSet } from '../../service.ts';
import { startChat } from '../../testing.ts';
import { CrossEncoder } from './cross-encoder.ts';

interface RerankCall {
  readonly model?: string;
  readonly query: string;
  readonly documents?: readonly string[];
  readonly texts?: readonly string[];
}

/** A server without a list of models, whose response to each request a test decides: a status with a body, or undefined to hang. */
async function startReranker(respond: (call: RerankCall) => [status: number, body: string] | undefined) {
  const calls: RerankCall[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') return response.writeHead(404).end();
    const call = JSON.parse(Buffer.concat(await request.toArray()).toString()) as RerankCall;
    calls.push(call);
    const [status, body] = respond(call) ?? [];
    if (status !== undefined) response.writeHead(status, { location: '/elsewhere' }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const cohere = (scores: readonly unknown[]): [number, string] => [
  200,
  JSON.stringify({ results: scores.map((relevance_score, index) => ({ index, relevance_score })).reverse() }),
];
const passages = [
  { text: 'one', rankScore: 0.9 },
  { text: 'two', rankScore: 0.5 },
  { text: 'three', rankScore: 0.1 },
];
const orderOf = (ranked: readonly { rankScore: number }[]) =>
  [...ranked.keys()].sort((one, other) => (ranked[other]?.rankScore ?? 0) - (ranked[one]?.rankScore ?? 0));

test('both dialects are spoken, and scores are shares or log odds', async () => {
  await using server = await startReranker(({ documents }) =>
    documents ? cohere([0.1, 0.2, 0.9]) : [422, ''],
  );
  await using inference = await startReranker(({ texts }) =>
    texts
      ? [200, JSON.stringify(texts.map((_, index) => ({ index, score: [-4, 6, -8][index] })))]
      : [422, ''],
  );
  const options = { apiKey: undefined, model: 'm', clock: new FakeClock() };
  const first = new CrossEncoder({ ...options, baseUrl: server.url });
  const ranked = await first.rank('q', passages);
  assert.deepEqual(orderOf(ranked), [2, 0, 1]);
  assert.deepEqual(
    ranked.map(({ score }) => score),
    [0.1, 0.2, 0.9],
  );
  assert.deepEqual(server.calls[0], { model: 'm', query: 'q', documents: ['one', 'two', 'three'], top_n: 3 });
  const second = new CrossEncoder({ ...options, baseUrl: `${inference.url}/` });
  for (let time = 0; time < 2; time++) assert.deepEqual(orderOf(await second.rank('q', passages)), [1, 0, 2]);
  assert.equal(inference.calls.length, 3);
});

test('a server that fails in whatever way is given up, with a pause', async () => {
  const cases: [RegExp, [number, string] | undefined][] = [
    [/status 500/, [500, '']],
    [/cannot be reached/, [307, '']],
    [/took too long/, undefined],
    [/2 scores for 3/, cohere([0.1, 0.2])],
    [/4 scores for 3/, cohere([0.1, 0.2, 0.3, 0.4])],
    [/no number/, cohere([0.1, 0.2, Number.NaN])],
    [/no number/, cohere([0.1, 0.2, '0.3'])],
    [/3 scores for 3/, [200, '[{"index":0,"score":1},{"index":0,"score":1},{"index":1,"score":1}]']],
    [/something else/, [200, '{"results":{}}']],
    [/something else/, [200, 'null']],
    [/something else/, [200, '<html>']],
    [/something else/, [200, `[${' '.repeat(2 * 1024 * 1024)}]`]],
  ];
  for (const [words, response] of cases) {
    await using server = await startReranker(() => response);
    const clock = new FakeClock();
    const timeoutMs = response ? 60_000 : 50;
    const common = { apiKey: 'k', model: undefined, clock, timeoutMs };
    const encoder = new CrossEncoder({ ...common, baseUrl: server.url });
    await assert.rejects(encoder.rank('q', passages), { name: 'RerankFailure', message: words });
    const asked = server.calls.length;
    await assert.rejects(encoder.rank('q', passages), /is not answering/);
    assert.equal(server.calls.length, asked);
    clock.advance(60_000);
    await assert.rejects(encoder.rank('q', passages), words);
  }
});

const ferry = Array.from({ length: 6 }, (_, index) => `The ferry number ${index} sails from the harbor.`);

test('answers follow the order of the server, and the order of before where it fails', async () => {
  let isBroken = false;
  await using server = await startReranker(({ documents = [] }) =>
    isBroken ? [500, ''] : cohere(documents.map((text) => (text.includes('number 4') ? 1 : 0))),
  );
  const environment = { RERANK_BASE_URL: server.url, RERANK_MODEL: 'labels' };
  await using chat = await startChat({ environment });
  await using plain = await startChat();
  for (const each of [chat, plain])
    await each.upload(ferry.map((content, index) => ({ name: `${index}.txt`, content })));
  const search = async (at: typeof chat, rerank = true) =>
    (await at.send('POST', '/api/search', { query: 'From where does the ferry sail?', rerank })).json;
  // On a busy machine the server may be too slow at first, after which it is left alone for a while.
  const found = await until(async () => {
    chat.clock.advance(60_000);
    const body = await search(chat);
    return body.metadata.reranker === 'labels' && body;
  });
  assert.equal(found.results[0].source, '4.txt');
  assert.equal(found.results[0].rerank_score, 1);
  const info = (await chat.send('GET', '/api/system/info')).json;
  assert.deepEqual(info.reranker, { enabled: true, model: 'labels' });
  isBroken = true;
  const fallen = await search(chat);
  const before = await search(plain);
  const names = (body: typeof found) => body.results.map(({ source }: { source: string }) => source);
  assert.deepEqual(names(fallen), names(before));
  assert.equal(fallen.metadata.reranker, 'builtin-pair-features');
  assert.match(fallen.metadata.warnings[0], /The reranker answered with status 500/);
  assert.match((await chat.send('GET', '/api/system/info')).json.reranker.problem, /status 500/);
});

test('a reranker that knows the labels puts what it was given in their order, as `eval --rerank` measures', async () => {
  const labels = new Map([
    ['Which ferry has a café?', 'number 3'],
    ['Which ferry takes dogs?', 'number 5'],
  ]);
  await using server = await startReranker(({ query, documents = [] }) =>
    cohere(documents.map((text) => (text.includes(labels.get(query) ?? '-') ? 1 : 0))),
  );
  const folder = testFolder('reranked');
  await mkdir(folder, { recursive: true });
  const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  await writeFile(join(folder, 'docs.jsonl'), lines(ferry.map((text, index) => ({ id: `${index}`, text }))));
  const queries = [...labels.keys()].map((text, index) => ({ id: `${index}`, text }));
  await writeFile(join(folder, 'queries.jsonl'), lines(queries));
  await writeFile(join(folder, 'qrels.tsv'), 'query\tdocument\tgrade\n0\t3\t1\n1\t5\t1\n');
  await using chat = await startChat();
  const environment = { ...chat.environment, RERANK_BASE_URL: server.url };
  const hybrid = async (hasCrossEncoder: boolean) => {
    const results = await evaluateSet(environment, chat.context, folder, { hasCrossEncoder });
    return results.find(({ strategy, reranked }) => strategy === 'hybrid' && reranked)?.mrrAt3 ?? 0;
  };
  assert.ok((await hybrid(false)) < 0.6);
  assert.equal(await hybrid(true), 1);
  const unset = evaluateSet(chat.environment, chat.context, folder, { hasCrossEncoder: true });
  await assert.rejects(unset, { code: 'invalid_input' });
});
