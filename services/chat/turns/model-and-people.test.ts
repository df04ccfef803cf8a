import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startChat } from '../testing.ts';
import { startModel } from '../testing-model.ts';
import { startPeople, stranger } from '../testing-people.ts';

const model = await startModel();
const people = await startPeople();
const settings = { LLM_BASE_URL: model.url, LLM_MODEL: 'scripted' };
const chat = await startChat({ environment: { ...people.signIn, ...settings } });
after(async () => {
  await chat[Symbol.asyncDispose]();
  await people.provider[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});
const [alice, bob, admin] = [await people.as('alice'), await people.as('bob'), await people.as('admin')];
const query = 'How many ducats does the lighthouse keeper get?';

test('a model that refuses or fails, and the answer in its place, know nothing of private documents of others', async () => {
  const wages = 'The lighthouse keeper gets 4711 ducats each spring.';
  await chat.upload([{ name: 'wages.md', content: `# Wages\n\n${wages}\n` }], {}, alice);
  const ferry = '# Ferry\n\nThe lighthouse keeper sails on Mondays.\n';
  await chat.upload([{ name: 'ferry.md', content: ferry }], { visibility: 'everyone' }, admin);
  const refusals = [
    () => (model.script = (reply) => reply.text('NO_AN', 'SWER').end()),
    () => (model.script = (reply) => reply.fail(500)),
  ];
  for (const refuse of refusals) {
    for (const headers of [bob, admin, stranger]) {
      refuse();
      model.calls.length = 0;
      const { json } = await chat.send('POST', '/api/chat', { query }, headers);
      assert.doesNotMatch(JSON.stringify([json, model.calls]), /4711|spring|wages/i);
    }
    const { json } = await chat.send('POST', '/api/chat', { query }, alice);
    assert.match(JSON.stringify(json.sources), /4711/);
    assert.match(JSON.stringify(model.calls), /4711/, 'its owner asks the model about it');
  }
  model.script = (reply) => reply.text('NO_ANSWER').end();
  const { json } = await chat.send('POST', '/api/chat', { query }, bob);
  assert.deepEqual([json.kind, json.abstained, json.metadata.confidence], ['none', true, 0]);
});

test('why a model fails is told to administrators, or at this machine where nobody can sign in', async () => {
  model.script = (reply) => reply.fail(401);
  const problemFor = async (at: typeof chat, headers: Record<string, string> = {}) => {
    const { json } = await at.send('GET', '/api/system/info', undefined, headers);
    assert.deepEqual([json.llm.configured, json.llm.available], [true, false]);
    return json.llm.problem;
  };
  await chat.send('POST', '/api/chat', { query }, alice);
  assert.match(await problemFor(chat, admin), /LLM_API_KEY/);
  for (const headers of [alice, stranger]) assert.equal(await problemFor(chat, headers), undefined);
  await using open = await startChat({ environment: settings });
  await open.upload([{ name: 'ferry.md', content: 'The lighthouse keeper sails on Mondays.' }]);
  await open.send('POST', '/api/chat', { query: 'When does the lighthouse keeper sail?' });
  assert.match(await problemFor(open), /LLM_API_KEY/);
  assert.equal(await problemFor(open, { 'x-forwarded-for': '192.0.2.7' }), undefined);
});
