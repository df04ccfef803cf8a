import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { sendRequest, testConfig, testContext } from '@octavo/testing';
import OpenAI, { AuthenticationError, BadRequestError, NotFoundError } from 'openai';
import { embed } from './service.ts';

const key = 'the-key-of-the-tests';
const running = await embed.start(
  testConfig(embed.settings, { EMBED_API_KEY: key }),
  testContext('embed', { log: silentLog }),
  {},
);
after(() => running[Symbol.asyncDispose]());
const url = running.url ?? '';
const model = 'universal-sentence-encoder-lite';
const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
const client = clientOf(key);
const post = (body: unknown) =>
  sendRequest(`${url}/v1/embeddings`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${key}` },
  });

function cosine(one: readonly number[] = [], other: readonly number[] = []): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

test('the official client gets vectors, as numbers and in Base64', async () => {
  const input = [
    'How much holiday do I get?',
    'Everybody has 27 days of vacation.',
    'The ferry leaves at nine.',
  ];
  for (const encoding_format of [undefined, 'float', 'base64'] as const) {
    const { data, usage, ...rest } = await client.embeddings.create({ model, input, encoding_format });
    assert.deepEqual(rest, { object: 'list', model });
    assert.deepEqual(
      data.map(({ index }) => index),
      [0, 1, 2],
    );
    assert.ok(usage.prompt_tokens > 15 && usage.prompt_tokens === usage.total_tokens);
    if (encoding_format === 'base64') {
      assert.equal(Buffer.from(data[0]?.embedding as unknown as string, 'base64').length, 512 * 4);
      continue;
    }
    const [question, answer, other] = data.map(({ embedding }) => embedding);
    assert.equal(question?.length, 512);
    assert.ok(cosine(question, answer) > cosine(question, other) + 0.1);
  }
  const single = await client.embeddings.create({ model, input: 'One text.', dimensions: 512 });
  assert.equal(single.data.length, 1);
});

test('the only model is listed', async () => {
  const models = await client.models.list();
  assert.deepEqual(
    models.data.map(({ id }) => id),
    [model],
  );
  assert.equal((await client.models.retrieve(model)).owned_by, 'octavo');
  await assert.rejects(client.models.retrieve('another'), NotFoundError);
  await assert.rejects(client.embeddings.create({ model: 'another', input: 'x' }), (error: NotFoundError) => {
    return error instanceof NotFoundError && error.code === 'model_not_found';
  });
});

test('nobody asks without the key', async () => {
  await assert.rejects(clientOf('some-other-key').models.list(), AuthenticationError);
  await assert.rejects(clientOf('x').embeddings.create({ model, input: 'x' }), AuthenticationError);
  assert.equal((await fetch(`${url}/health`)).status, 200);
});

test('what cannot be encoded is named', async () => {
  const cases: [input: unknown, param: string, message: RegExp][] = [
    ['', 'input', /must not be empty/],
    [[], 'input', /must be a text or a list of texts/],
    [{ text: 'x' }, 'input', /must be a text or a list of texts/],
    [['x', ' '], 'input[1]', /must not be empty/],
    [[1, 2, 3], 'input[0]', /tokens of other models/],
    [['x', 'y'.repeat(2_001)], 'input[1]', /has 2001 characters; at most 2000 are read/],
    [Array.from({ length: 2_049 }, () => 'x'), 'input', /at most 2048 texts/],
  ];
  for (const [input, param, message] of cases) {
    const { status, json } = await post({ model, input });
    assert.deepEqual([status, json.error.type, json.error.param], [400, 'invalid_request_error', param]);
    assert.match(json.error.message, message);
  }
  await assert.rejects(client.embeddings.create({ model, input: 'x', dimensions: 256 }), BadRequestError);
  for (const body of [
    { input: 'x' },
    { model, input: 'x', encoding_format: 'int8' },
    { model: 7, input: 'x' },
    [],
  ])
    assert.equal((await post(body)).status, 400);
});
