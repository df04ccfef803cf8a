import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startChat } from '../testing.ts';
import { type ModelReply, startModel } from '../testing-model.ts';

const model = await startModel();
const chat = await startChat({ LLM_BASE_URL: model.url, LLM_MODEL: 'scripted', CHAT_GENERATIONS_MAX: '0' });
after(async () => {
  await chat[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});
await chat.upload([
  { name: 'handbook.md', content: '# Vacation\n\nEverybody has 27 days of vacation in a year.\n' },
]);
const readMax = 24 * 1024 * 1024;
const call = { index: 0, function: { arguments: 'and on ' } };

const floods: [string, 'length' | 'stop' | 'error', (reply: ModelReply) => Promise<number>][] = [
  ['text', 'length', (reply) => reply.goOn({ delta: { content: 'and so on, and so on, ' } })],
  ['blank text', 'stop', (reply) => reply.goOn({ delta: { content: '   ' } })],
  ['reasoning', 'stop', (reply) => reply.goOn({ delta: { reasoning_content: 'hmm ' } })],
  ['arguments of a tool', 'stop', (reply) => reply.goOn({ delta: { tool_calls: [call] } })],
  ['comments', 'stop', (reply) => reply.pour(':\n\n')],
  ['one line', 'stop', (reply) => reply.pour('data: and so on')],
  ['an error', 'stop', (reply) => reply.pour('and so on', 500)],
];

for (const [what, finish, flood] of floods) {
  test(`a model that never ends is stopped: ${what}`, { timeout: 180_000 }, async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    model.script = async (reply) => resolve(await flood(reply));
    const { status, json: turn } = await chat.send('POST', '/api/chat', {
      query: 'How many days of vacation do I have?',
      use_tools: false,
    });
    assert.equal(status, 200);
    assert.equal(turn.metadata.finish_reason, finish);
    if (finish === 'length') assert.match(turn.answer, /^and so on/);
    else assert.match(turn.answer, /27 days/);
    assert.ok((await promise) < readMax);
  });
}
