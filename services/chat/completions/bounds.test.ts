import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import OpenAI, { BadRequestError } from 'openai';
import { startChat } from '../testing.ts';
import { startModel } from '../testing-model.ts';

const model = await startModel();
const chat = await startChat({ environment: { LLM_BASE_URL: model.url, LLM_MODEL: 'scripted' } });
after(async () => {
  await chat[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});
await chat.upload([{ name: 'handbook.txt', content: 'Everybody has 27 days of vacation in a year.' }]);
const client = new OpenAI({ baseURL: `${chat.url}/v1`, apiKey: 'none', maxRetries: 0 });
const extractive = 'builtin-extractive';
const question = 'How many days of vacation does everybody have?';
beforeEach(() => {
  model.calls.length = 0;
});

interface Said {
  readonly text: string;
  readonly finish: string | null | undefined;
  readonly citations: readonly { readonly answer_end: number }[];
}

/** The answer in whole and as a stream, which have to be the same. */
async function answersTo(bounds: object, name = extractive, content = question): Promise<Said> {
  const body = { model: name, messages: [{ role: 'user' as const, content }], ...bounds };
  const whole = await client.chat.completions.create(body);
  const [choice] = whole.choices;
  const { citations } = whole as unknown as Said;
  const said = { text: choice?.message.content ?? '', finish: choice?.finish_reason, citations };
  const chunks = await Array.fromAsync(await client.chat.completions.create({ ...body, stream: true }));
  assert.equal(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''), said.text);
  assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, said.finish);
  for (const { answer_end: end } of citations) assert.ok(end <= said.text.length);
  return said;
}

test('an answer in quotes has as many tokens as are wanted, and ends before a stop text', async () => {
  const full = 'Everybody has 27 days of vacation in a year. [1]';
  assert.deepEqual(
    await Promise.all(
      [
        { max_tokens: 2 },
        { max_completion_tokens: 4, max_tokens: 1 },
        { max_tokens: 1_000, stop: null, temperature: null },
        { stop: 'of vacation' },
        { stop: ['nothing', 'in a', 'year'] },
        { stop: 'days', max_tokens: 2 },
        { stop: 'Everybody' },
      ].map(async (bounds) => {
        const { text, finish } = await answersTo(bounds);
        return [text, finish];
      }),
    ),
    [
      ['Everybody has', 'length'],
      ['Everybody has 27 days', 'length'],
      [full, 'stop'],
      ['Everybody has 27 days ', 'stop'],
      ['Everybody has 27 days of vacation ', 'stop'],
      ['Everybody has', 'length'],
      ['', 'stop'],
    ],
  );
  assert.deepEqual((await answersTo({ max_tokens: 2 })).citations, []);
  const greeting = await answersTo({ max_tokens: 1 }, extractive, 'hello');
  assert.deepEqual([greeting.text, greeting.finish], ['Hello', 'length']);
});

test('a model that does not keep to the bounds is cut, and stopped at once', async () => {
  const ends: Promise<unknown>[] = [];
  model.script = (answer) => {
    ends.push(answer.closed);
    // It never ends by itself.
    answer.text('Every', 'body has 27 da', 'ys', ' of vacation in a', ' year [1].');
  };
  for (const [bounds, text, finish] of [
    [{ max_tokens: 2 }, 'Everybody has', 'length'],
    [{ max_completion_tokens: 4 }, 'Everybody has 27 days', 'length'],
    [{ stop: 'days' }, 'Everybody has 27 ', 'stop'],
    [{ stop: ['ever', 'body has 28', 'in a y'] }, 'Everybody has 27 days of vacation ', 'stop'],
  ] as const) {
    const said = await answersTo(bounds, 'scripted');
    assert.deepEqual([said.text, said.finish], [text, finish]);
  }
  await Promise.all(ends);
  assert.equal(ends.length, 8);
});

test('the model is told the bounds, and how to choose its words', async () => {
  model.script = (answer) => answer.text('Everybody has 27 days [1].').end('length');
  const wishes = { max_tokens: 90, stop: ['END'], temperature: 0.7, top_p: 0.5, seed: 7 };
  const { text, finish } = await answersTo(wishes, 'scripted');
  assert.deepEqual([text, finish], ['Everybody has 27 days [1].', 'length']);
  const [{ max_tokens, stop, temperature, top_p, seed } = {}] = model.calls;
  assert.deepEqual({ max_tokens, stop, temperature, top_p, seed }, wishes);
});

test('a model that fails within the bounds is followed by quotes within them', async () => {
  model.script = (answer) => {
    const begun = JSON.stringify({ choices: [{ index: 0, delta: { content: 'Everybody has ' } }] });
    answer.raw(`data: ${begun}\n\ndata: {"error":{"message":"broken"}}\n\n`);
  };
  const { text, finish } = await answersTo({ max_tokens: 4 }, 'scripted');
  assert.deepEqual([text, finish], ['Everybody has \n\nEverybody has', 'length']);
});

test('what cannot be done is refused', async () => {
  const create = (more: object) =>
    client.chat.completions.create({
      model: extractive,
      messages: [{ role: 'user', content: question }],
      ...more,
    } as OpenAI.ChatCompletionCreateParamsNonStreaming);
  const tool = { type: 'function', function: { name: 'f', parameters: {} } };
  for (const [name, value] of [
    ['tools', [tool]],
    ['tools', 'x'],
    ['functions', [{ name: 'f' }]],
    ['tool_choice', 'required'],
    ['tool_choice', { type: 'function', function: { name: 'f' } }],
    ['response_format', { type: 'json_object' }],
    ['response_format', { type: 'json_schema', json_schema: {} }],
    ['logprobs', true],
    ['modalities', ['text', 'audio']],
  ] as const)
    await assert.rejects(
      create({ [name]: value }),
      (error) =>
        error instanceof BadRequestError && error.code === 'unsupported_parameter' && error.param === name,
      `${name} ${JSON.stringify(value)}`,
    );
  for (const [name, value] of [
    ['max_tokens', 0],
    ['max_tokens', -1],
    ['max_tokens', 1.5],
    ['max_completion_tokens', '9'],
    ['stop', ''],
    ['stop', ['a', 'b', 'c', 'd', 'e']],
    ['stop', 7],
    ['temperature', -0.1],
    ['temperature', 2.1],
    ['top_p', 1.1],
    ['seed', 1.5],
  ] as const)
    await assert.rejects(
      create({ [name]: value }),
      (error) => error instanceof BadRequestError && String(error.param).startsWith(name),
      `${name} ${JSON.stringify(value)}`,
    );
  const plain = {
    tools: [],
    tool_choice: 'auto',
    response_format: { type: 'text' },
    logprobs: false,
    modalities: ['text'],
    user: 'alice',
  };
  assert.equal((await create(plain)).choices[0]?.finish_reason, 'stop');
});
