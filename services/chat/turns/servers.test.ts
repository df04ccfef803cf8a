import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { eventsOf, startChat } from '../testing.ts';
import { type ModelReply, startModel } from '../testing-model.ts';

const model = await startModel();
const settings = { LLM_BASE_URL: model.url, LLM_MODEL: 'scripted', CHAT_GENERATIONS_MAX: '0' };
const chat = await startChat({ environment: settings });
after(async () => {
  await chat[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});
await chat.upload([
  { name: 'handbook.md', content: '# Vacation\n\nEverybody has 27 days of vacation in a year.\n' },
  { name: 'cellar.md', content: '# Bicycles\n\nBicycles are parked in the cellar.\n' },
]);
const question = 'How many days of vacation do I have?';
const ask = async (more: object = {}) =>
  (await chat.send('POST', '/api/chat', { query: question, ...more })).json;
const answered = 'Everybody has 27 days of vacation in a year [1].';
const quoted = /^Everybody has 27 days of vacation in a year\. \[1\]/;

beforeEach(() => {
  model.calls.length = 0;
  model.about = {};
});

/** Streamed events as servers write them. */
const events = (...bodies: readonly object[]) =>
  [...bodies.map((body) => JSON.stringify(body)), '[DONE]'].map((data) => `data: ${data}\n\n`).join('');
const chunk = (delta: object, more: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_760_000_000,
  model: 'scripted',
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});
const usage = { prompt_tokens: 90, completion_tokens: 9, total_tokens: 99 };
const [first, second] = ['Everybody has 27 days of vacation ', 'in a year.'];

/** A normal answer of each server, of which some think before, and none writes a marker. */
const streams: Readonly<Record<string, string>> = {
  Ollama: events(
    { ...chunk({ role: 'assistant', content: '', reasoning: '27?' }), system_fingerprint: 'fp_ollama' },
    { ...chunk({ role: 'assistant', content: first }), system_fingerprint: 'fp_ollama' },
    { ...chunk({ role: 'assistant', content: second }), system_fingerprint: 'fp_ollama' },
    chunk({ role: 'assistant', content: '' }, { finish_reason: 'stop' }),
    { ...chunk({}), choices: [], usage },
  ),
  'llama.cpp': events(
    chunk({ role: 'assistant', content: null }),
    chunk({ reasoning_content: '27?' }),
    chunk({ content: first }),
    chunk({ content: second }),
    chunk({}, { finish_reason: 'stop' }),
    {
      ...chunk({}),
      choices: [],
      usage,
      timings: { prompt_n: 90, predicted_n: 9, predicted_per_second: 21.5 },
    },
  ),
  vLLM: events(
    { ...chunk({ role: 'assistant', content: '' }), prompt_token_ids: null },
    chunk({ reasoning_content: '27?' }, { logprobs: null, token_ids: null }),
    chunk({ content: first }, { logprobs: null }),
    chunk({ content: second }, { logprobs: null, finish_reason: 'stop', stop_reason: null }),
    { ...chunk({}), choices: [], usage },
  ),
  'LM Studio': events(
    chunk({ role: 'assistant', content: `<think>27?</think>${first}` }, { logprobs: null }),
    chunk({ content: second }, { logprobs: null }),
    { ...chunk({}, { logprobs: null, finish_reason: 'stop' }), stats: {} },
    { ...chunk({}), choices: [], usage },
  ),
  OpenAI: events(
    { ...chunk({ role: 'assistant', content: '', refusal: null }), service_tier: 'default', usage: null },
    { ...chunk({ content: first }), obfuscation: 'x7', usage: null },
    { ...chunk({ content: second }), obfuscation: 'q', usage: null },
    { ...chunk({}, { finish_reason: 'stop' }), usage: null },
    { ...chunk({}), choices: [], usage },
  ),
};

test('an answer of each server is shown without its thoughts, with the marker of its source', async () => {
  for (const [name, stream] of Object.entries(streams)) {
    model.script = (reply) => reply.raw(stream);
    const turn = await ask();
    assert.equal(turn.answer, answered, name);
    assert.deepEqual([turn.grounded, turn.metadata.confidence, turn.citations.length], [true, 1, 1], name);
    assert.equal(turn.metadata.usage.total_tokens, 99, name);
  }
});

test('the stages tell of loading and thinking', async () => {
  model.script = (reply) => reply.raw(streams['llama.cpp'] ?? '');
  const told = await Array.fromAsync(eventsOf(chat, { query: question }));
  assert.deepEqual(
    told.filter(({ event }) => event === 'status').map(({ data }) => data.stage),
    ['retrieving', 'loading', 'thinking', 'generating'],
  );
});

test('a server that does not stream is taken, with a call of a tool too', async () => {
  const message = { role: 'assistant', content: first + second };
  const whole = { object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }], usage };
  const json = { 'content-type': 'application/json; charset=utf-8' };
  model.script = (reply) => reply.raw(JSON.stringify(whole), 200, json);
  const turn = await ask();
  assert.deepEqual([turn.answer, turn.metadata.mode], [answered, 'llm']);
});

const json = { 'content-type': 'application/json' };
const errorOf = (message: string, more: object = {}) => JSON.stringify({ error: { message, ...more } });
/** Refusals of servers, and the words of what administrators can do about them. */
const refusals: readonly [string, number, string, RegExp][] = [
  [
    'Ollama',
    404,
    errorOf('model "scripted" not found, try pulling it first', { type: 'not_found_error' }),
    /LLM_MODEL/,
  ],
  ['llama.cpp', 401, errorOf('Invalid API Key', { code: 401, type: 'authentication_error' }), /LLM_API_KEY/],
  ['llama.cpp', 503, errorOf('Loading model', { code: 503, type: 'unavailable_error' }), /failed/],
  [
    'llama.cpp',
    400,
    errorOf('request (4476 tokens) exceeds the available context size (4096 tokens)', {
      code: 400,
      type: 'exceed_context_size_error',
      n_prompt_tokens: 4_476,
      n_ctx: 4_096,
    }),
    /LLM_CONTEXT_TOKENS/,
  ],
  [
    'vLLM',
    400,
    JSON.stringify({
      object: 'error',
      message: "This model's maximum context length is 2048 tokens. However, you requested 2300 tokens.",
      type: 'BadRequestError',
      code: 400,
    }),
    /LLM_CONTEXT_TOKENS/,
  ],
  ['vLLM', 404, errorOf('The model `scripted` does not exist.', { type: 'NotFoundError' }), /LLM_MODEL/],
  [
    'LM Studio',
    400,
    '{"error":"The number of tokens to keep from the initial prompt is greater than the context length."}',
    /LLM_CONTEXT_TOKENS/,
  ],
  ['OpenAI', 401, errorOf('Incorrect API key provided: sk-1.', { code: 'invalid_api_key' }), /LLM_API_KEY/],
  ['OpenAI', 429, errorOf('Rate limit reached', { code: 'rate_limit_exceeded' }), /busy/],
  ['a proxy', 404, '<html>Not Found</html>', /LLM_BASE_URL/],
  ['a web page', 200, '<html>Welcome</html>', /LLM_BASE_URL/],
];

test('the cause of a failure is named where it can be mended, and the answer is quoted', async () => {
  for (const [server, status, body, problem] of refusals) {
    const type = body.startsWith('<') ? { 'content-type': 'text/html' } : json;
    model.script = (reply) => reply.raw(body, status, type);
    const turn = await ask();
    assert.match(turn.answer, quoted, `${server} ${status}`);
    assert.deepEqual(turn.metadata.warnings, ['The model failed. This answer is quoted from the sources.']);
    const { llm } = (await chat.send('GET', '/api/system/info')).json;
    assert.match(llm.problem, problem, `${server} ${status} ${body}`);
  }
  model.script = (reply) => reply.text('Everybody has 27 days [1].').end();
  await ask();
  assert.equal((await chat.send('GET', '/api/system/info')).json.llm.problem, undefined);
});

test('a full context is tried again with less of a long history', async () => {
  const { session_id } = (await chat.send('POST', '/api/session')).json;
  model.script = (reply) => reply.text(`Everybody has 27 days [1]. ${'Ask us again. '.repeat(20)}`).end();
  for (const query of [question, `${question} Really?`]) await ask({ query, session_id });
  model.calls.length = 0;
  const body = errorOf('the request exceeds the available context size', { n_ctx: 1_024 });
  model.script = (reply) =>
    model.calls.length === 1 ? reply.raw(body, 400, json) : reply.text('Everybody has 27 days [1].').end();
  const turn = await ask({ session_id });
  assert.deepEqual([turn.metadata.mode, model.calls.length], ['llm', 2]);
  const [long = 0, short = 0] = model.calls.map(({ messages }) => JSON.stringify(messages).length);
  assert.ok(short < long && short / 3.5 < 1_024, `${long} ${short}`);
  assert.match(JSON.stringify(model.calls[1]?.messages), /27 days of vacation in a year/);
});

test('the context is asked of servers that tell it', async () => {
  const told: readonly Readonly<Record<string, unknown>>[] = [
    { '/v1/models': { data: [{ id: 'scripted', max_model_len: 300 }] } },
    { '/props': { default_generation_settings: { n_ctx: 300 } } },
    { '/api/ps': { models: [{ name: 'scripted:latest', model: 'scripted:latest', context_length: 300 }] } },
    { '/api/v0/models': { data: [{ id: 'scripted', loaded_context_length: 300 }] } },
    { '/v1/models': { data: 'none' } },
  ];
  model.script = (reply) => reply.text('Everybody has 27 days [1].').end();
  const sources: number[] = [];
  for (const about of told) {
    model.about = about;
    await using other = await startChat({ environment: settings, beside: chat });
    await other.send('POST', '/api/chat', {
      query: 'Where are bicycles parked, and how many days of vacation?',
    });
    sources.push(JSON.stringify(model.calls.at(-1)).match(/<source /g)?.length ?? 0);
  }
  assert.deepEqual(sources, [1, 1, 1, 1, 2]);
});

test('a busy server is asked again once when it says', async () => {
  const busy = (reply: ModelReply, after: string) =>
    reply.raw(errorOf('Rate limit reached'), 429, { ...json, 'retry-after': after });
  model.script = (reply) =>
    model.calls.length === 1 ? busy(reply, '0') : reply.text('Everybody has 27 days [1].').end();
  assert.equal((await ask()).answer, 'Everybody has 27 days [1].');
  for (const [after, asked] of [
    ['0', 2],
    ['60', 1],
    ['soon', 1],
  ] as const) {
    model.calls.length = 0;
    model.script = (reply) => busy(reply, after);
    assert.match((await ask()).answer, quoted);
    assert.equal(model.calls.length, asked, after);
  }
});

test('a call of a tool that is printed is no answer', async () => {
  for (const printed of [
    '{"name": "get_team", "arguments": {"name": "Zoe"}}',
    '<tool_call>{"name": "get_team"}</tool_call>',
    '```json\n{"tool": "search", "parameters": {}}\n```',
  ]) {
    model.script = (reply) => reply.text(...printed.split(/(?<=[{:])/)).end();
    const turn = await ask();
    assert.match(turn.answer, quoted, printed);
    assert.equal(turn.metadata.mode, 'extractive');
  }
  model.script = (reply) => reply.text('{"days": 27}').end();
  assert.equal((await ask()).answer, '{"days": 27} [1]');
});

test('an answer in another language than its source is supported by its numbers alone', async () => {
  const support = async (text: string) => {
    model.script = (reply) => reply.text(text).end();
    const { metadata, grounded } = await ask();
    return [grounded, metadata.confidence, metadata.warnings.length];
  };
  assert.deepEqual(await support('Alle haben 27 Tage Urlaub in einem Jahr [1].'), [true, 1, 1]);
  assert.deepEqual(await support('Alle haben 28 Tage Urlaub in einem Jahr [1].'), [false, 0, 1]);
  assert.deepEqual(await support('Alle haben 27 Tage Urlaub in einem Jahr.'), [false, 0, 0]);
});

test('a stream that stops in a sentence as its client cancels ends once, as cancelled', async () => {
  const { promise, resolve } = Promise.withResolvers<ModelReply>();
  model.script = (reply) => resolve(reply.text('Everybody has 27 days of vac'));
  const answer = ask({ request_id: 'both' });
  const reply = await promise;
  const cancelling = chat.send('POST', '/api/chat/both/cancel');
  reply.breakOff();
  assert.equal((await cancelling).status, 202);
  const { metadata, answer: said } = await answer;
  assert.ok(['cancelled', 'error'].includes(metadata.finish_reason));
  assert.match(said, /^(?:Everybody has 27 days of vac)?(?:\n\nEverybody has 27|$)/);
});

test('what a model thinks is not shown where the template of its server leaves out the opening tag', async () => {
  const thinking = await startChat({
    environment: { ...settings, LLM_MODEL: 'deepseek-r1:8b,plain' },
    beside: chat,
  });
  after(() => thinking[Symbol.asyncDispose]());
  const said = async (name: string, ...pieces: string[]) => {
    model.script = (reply) => reply.text(...pieces).end();
    const body = { model: name, messages: [{ role: 'user', content: question }] };
    const { json: completion } = await thinking.send('POST', '/api/chat/completions', body);
    return completion.choices[0].message.content;
  };
  const aloud = ['So they ask for days. It is ', '28? No.</th', 'ink>\n\n', first, second];
  assert.equal(await said('deepseek-r1:8b', ...aloud), answered);
  assert.equal(await said('deepseek-r1:8b', first, second), answered, 'without a thought');
  // Once seen, the thoughts of any model wait.
  assert.match(await said('plain', ...aloud), /in a year \[1\]\.$/);
  assert.equal(await said('plain', ...aloud), answered);
  model.script = (reply) => reply.text('So they ask for days.').end('length');
  assert.match((await thinking.send('POST', '/api/chat', { query: question })).json.answer, quoted);
});

test('a server that is busy after the answer has begun is not asked again', async () => {
  const broken = `data: ${errorOf('Rate limit reached', { code: 429, type: 'rate_limit_exceeded' })}\n\n`;
  model.script = (reply) =>
    reply.raw(events(chunk({ content: first })).replace('data: [DONE]\n\n', broken), 200, {
      'content-type': 'text/event-stream',
      'retry-after': '0',
    });
  const told = await Array.fromAsync(eventsOf(chat, { query: question }));
  const { answer, metadata } = told.at(-1)?.data ?? {};
  assert.equal(model.calls.length, 1);
  assert.match(
    answer,
    /^Everybody has 27 days of vacation \n\nEverybody has 27 days of vacation in a year\. \[1\]/,
  );
  assert.deepEqual([metadata.finish_reason, metadata.warnings.length], ['error', 1]);
  const deltas = told.flatMap(({ event, data }) => (event === 'delta' ? [data.text] : []));
  assert.equal(deltas.join(''), answer);
});

test('a model is given as many sources as it has room for, unless the client sets their number', async () => {
  const sections = Array.from({ length: 25 }, (_, house) => {
    return `## House ${house}\n\n${`Bicycles of house ${house} are parked in its cellar. `.repeat(8)}\n`;
  });
  await chat.upload([{ name: 'houses.md', content: `# Bicycles of all houses\n\n${sections.join('\n')}` }]);
  model.script = (reply) => reply.text('In the cellar [1].').end();
  const counted = async (LLM_CONTEXT_TOKENS: string, more: object = {}) => {
    await using other = await startChat({ environment: { ...settings, LLM_CONTEXT_TOKENS }, beside: chat });
    const { json: turn } = await other.send('POST', '/api/chat', {
      query: 'Where are bicycles parked?',
      ...more,
    });
    const given = JSON.stringify(model.calls.at(-1)).match(/<source /g)?.length ?? 0;
    return [given, turn.sources.length];
  };
  assert.deepEqual(await counted('16000'), [20, 20]);
  const [given = 0, shown = 0] = await counted('2048');
  assert.ok(given > 5 && given < 20 && given === shown, `${given} ${shown}`);
  assert.deepEqual(await counted('16000', { top_k: 3 }), [3, 3]);
  assert.deepEqual((await counted('1024'))[1], 5, 'no fewer than are quoted');
});
