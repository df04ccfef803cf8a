import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ChatModel } from '../model/index.ts';
import { startChat } from '../testing.ts';
import { type ModelReply, startModel } from '../testing-model.ts';

const model = await startModel();
const chat = await startChat({
  environment: { LLM_BASE_URL: model.url, LLM_MODEL: 'scripted', CHAT_GENERATIONS_MAX: '0' },
});
after(async () => {
  await chat[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});
await chat.upload([
  { name: 'handbook.md', content: '# Vacation\n\nEverybody has 27 days of vacation in a year.\n' },
]);
const call = { index: 0, function: { arguments: 'and on ' } };

/** Endless answers of a model; each gives the number of bytes that it could send. */
const floods: Readonly<Record<string, (reply: ModelReply) => Promise<number>>> = {
  'blank text': (reply) => reply.goOn({ delta: { content: '   ' } }),
  reasoning: (reply) => reply.goOn({ delta: { reasoning_content: 'hmm ' } }),
  'arguments of a tool': (reply) => reply.goOn({ delta: { tool_calls: [call] } }),
  comments: (reply) => reply.pour(':\n\n'),
  'one line': (reply) => reply.pour('data: and so on'),
  'an error': (reply) => reply.pour('and so on', 500),
};

/** Its socket holds more than was read. */
const buffersBytesMax = 16 * 1024 * 1024;

for (const [what, flood] of Object.entries(floods)) {
  test(`a model that never ends fails: ${what}`, { timeout: 180_000 }, async () => {
    const { promise: sent, resolve } = Promise.withResolvers<number>();
    model.script = async (reply) => resolve(await flood(reply));
    const timeouts = { timeoutMs: 60_000, firstTokenTimeoutMs: 60_000 };
    const options = { baseUrl: model.url, apiKey: undefined, names: ['scripted'], ...timeouts };
    const bounded = new ChatModel({ ...options, responseBytesMax: 200_000 });
    const messages = [{ role: 'user', content: 'Hi' }] as const;
    const { signal } = new AbortController();
    const parts = bounded.stream({ name: 'scripted', system: '', messages, tools: [], signal });
    await assert.rejects(Array.fromAsync(parts), (error: Error) => error.name !== 'TimeoutError');
    assert.ok((await sent) < buffersBytesMax);
  });
}

test('an answer that never ends is stopped, and one without text gives way to the passages', async () => {
  const query = 'How many days of vacation do I have?';
  const ask = () => chat.send('POST', '/api/chat', { query, use_tools: false });
  model.script = async (reply) => void (await reply.goOn({ delta: { content: 'and so on, and so on, ' } }));
  const { json: endless } = await ask();
  assert.equal(endless.metadata.finish_reason, 'length');
  assert.match(endless.answer, /^and so on/);
  model.script = async (reply) => void (await floods.comments?.(reply));
  const { json: fallback } = await ask();
  assert.equal(fallback.metadata.finish_reason, 'stop');
  assert.match(fallback.answer, /27 days/);
});
