import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import OpenAI, { AuthenticationError, BadRequestError, NotFoundError } from 'openai';
import { startChat } from '../testing.ts';
import { startModel } from '../testing-model.ts';

const model = await startModel();
const chat = await startChat({
  environment: {
    LLM_BASE_URL: model.url,
    LLM_MODEL: 'scripted, other',
    GATEWAY_AUTH: 'api_key',
    CHAT_API_KEYS: 'alice',
  },
});
after(async () => {
  await chat[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});
const clientOf = (baseURL: string, apiKey = 'alice') => new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const client = clientOf(`${chat.url}/v1`);
const form = new FormData();
form.append('file', new Blob(['Everybody has 27 days of vacation in a year.']), 'handbook.txt');
await fetch(`${chat.url}/api/upload`, { method: 'POST', body: form, headers: { 'x-api-key': 'alice' } });
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'How many days of vacation does everybody have?' }] },
] as const;
const asked = {
  model: 'other',
  messages: [...messages],
} as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming;

beforeEach(() => {
  model.calls.length = 0;
  model.script = (answer) => answer.text('Everybody has ', '27 days [1].').end();
});

test('the official client gets a completion', async () => {
  for (const each of [client, clientOf(`${chat.url}/api`)]) {
    const completion = await each.chat.completions.create(asked);
    assert.equal(completion.object, 'chat.completion');
    assert.equal(completion.choices[0]?.message.content, 'Everybody has 27 days [1].');
    assert.equal(completion.choices[0]?.finish_reason, 'stop');
    assert.equal(completion.usage?.total_tokens, 107);
    const { sources, citations } = completion as unknown as { sources: object[]; citations: object[] };
    assert.deepEqual([sources.length, citations.length], [1, 1]);
  }
  assert.equal(model.calls[0]?.model, 'other');
  assert.match(String(model.calls[0]?.messages[0]?.content), /Be brief\.$/);
  const sessions = await chat.send('GET', '/api/sessions', undefined, { 'x-api-key': 'alice' });
  assert.equal(sessions.json.total, 0);
});

test('the official client gets a stream', async () => {
  const stream = await client.chat.completions.create({
    ...asked,
    model: 'builtin-extractive',
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = await Array.fromAsync(stream);
  const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
  assert.equal(text, 'Everybody has 27 days of vacation in a year. [1]');
  assert.equal(chunks[0]?.choices[0]?.delta.role, 'assistant');
  assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, 'stop');
  assert.equal(chunks.at(-1)?.usage?.total_tokens, 0);
  assert.equal((chunks.at(-1) as unknown as { sources: object[] }).sources.length, 1);
  assert.equal(model.calls.length, 0);
});

test('models are listed', async () => {
  const models = await Array.fromAsync(client.models.list());
  assert.deepEqual(
    models.map(({ id }) => id),
    ['scripted', 'other', 'builtin-extractive'],
  );
  const { id, object } = await client.models.retrieve('builtin-extractive');
  assert.deepEqual([id, object], ['builtin-extractive', 'model']);
  await assert.rejects(
    client.models.retrieve('vendor/gpt-9'),
    (error) => error instanceof NotFoundError && error.code === 'model_not_found' && error.param === 'model',
  );
});

test('an image in an earlier message is left out with a warning, and in the last one refused', async () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } };
  const earlier = [
    { role: 'user', content: [{ type: 'text', text: 'Look at this.' }, image] },
    { role: 'assistant', content: 'I see.' },
    ...messages,
  ];
  const create = (more: object) => client.chat.completions.create({ ...asked, ...more });
  const completion = await create({ messages: earlier });
  assert.equal(completion.choices[0]?.message.content, 'Everybody has 27 days [1].');
  const { metadata } = completion as unknown as { metadata: { warnings: string[] } };
  assert.deepEqual(metadata.warnings, [
    'Images and other parts of earlier messages that are no text were left out.',
  ]);
  assert.match(JSON.stringify(model.calls[0]?.messages), /Look at this/);
  for (const content of [[image], [{ type: 'text', text: 'And this?' }, image], '', ' ', 'x'.repeat(4_001)])
    await assert.rejects(
      create({ messages: [...earlier, { role: 'user', content }] }),
      (error) => error instanceof BadRequestError && error.param === 'messages[4].content',
    );
});

test('errors are those that the official client knows', async () => {
  const create = (more: object, by = client) => by.chat.completions.create({ ...asked, ...more });
  await assert.rejects(
    create({ model: 'gpt-9' }),
    (error) => error instanceof NotFoundError && error.code === 'model_not_found',
  );
  await assert.rejects(create({ n: 2 }), (error) => error instanceof BadRequestError && error.param === 'n');
  await assert.rejects(
    create({ messages: [] }),
    (error) => error instanceof BadRequestError && error.param === 'messages',
  );
  await assert.rejects(create({ strategy: 'magic' }), BadRequestError);
  await assert.rejects(create({ messages: [{ role: 'assistant', content: 'Hi' }] }), BadRequestError);
  await assert.rejects(create({}, clientOf(`${chat.url}/v1`, 'guess')), AuthenticationError);
});

test('each of these routes documents every error in the shape of the OpenAI API', async () => {
  const { paths, components } = (await chat.send('GET', '/openapi.json')).json;
  const resolved = (schema: { $ref?: string }) =>
    schema.$ref ? components.schemas[schema.$ref.split('/').at(-1) ?? ''] : schema;
  for (const path of ['/api/chat/completions', '/v1/chat/completions', '/v1/models', '/v1/models/{id}'])
    for (const { responses } of Object.values<{ responses: Record<string, Documented> }>(paths[path])) {
      // 431 is sent before the path is known.
      const errors = Object.entries(responses).filter(
        ([status]) => Number(status) >= 400 && status !== '431',
      );
      assert.ok(errors.length > 0, path);
      for (const [status, { content }] of errors)
        assert.equal(
          resolved(content['application/json'].schema).title,
          'CompletionError',
          `${path} ${status}`,
        );
    }
});

interface Documented {
  readonly content: { readonly 'application/json': { readonly schema: { $ref?: string } } };
}
