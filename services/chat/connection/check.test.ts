import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@octavo/core';
import { startModel } from '../testing-model.ts';
import { checkServers } from './check.ts';

test('the servers of the settings are checked with their models', async () => {
  await using model = await startModel();
  model.about = { '/v1/models': { data: [{ id: 'small:latest', max_model_len: 8192 }] } };
  const check = async (settings: object) =>
    (await checkServers(settings, new FakeClock())).map(({ text, isWorking }) => [isWorking, text]);
  assert.deepEqual(await check({}), []);
  assert.deepEqual(await check({ LLM_BASE_URL: model.url, LLM_MODEL: 'small:latest' }), [
    [true, 'small:latest is there, with a context of 8192 tokens'],
  ]);
  assert.deepEqual(await check({ LLM_BASE_URL: model.url, LLM_MODEL: 'small, large' }), [
    [false, 'The server does not have large'],
  ]);
  const root = model.url.replace(/\/v1$/, '');
  assert.deepEqual(await check({ EMBEDDING_BASE_URL: root, EMBEDDING_MODEL: 'small' }), [
    [false, `The API is at ${model.url}`],
  ]);
  const none = 'http://127.0.0.1:1/v1';
  assert.deepEqual(await check({ LLM_BASE_URL: none, LLM_MODEL: 'small', RERANK_BASE_URL: none }), [
    [false, 'No server answers at this address'],
    [false, 'The reranker cannot be reached'],
  ]);
});
