import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadHandbook } from '../service.ts';
import { startChat } from '../testing.ts';

test('the handbook answers a first question, and is loaded once', async () => {
  await using chat = await startChat();
  assert.equal(await loadHandbook(chat.environment, chat.context), 4);
  assert.equal(await loadHandbook(chat.environment, chat.context), 0);
  const { json: turn } = await chat.send('POST', '/api/chat', {
    query: 'How many days of vacation does everybody have?',
  });
  assert.match(turn.answer, /28 days of paid vacation a year/);
  assert.equal((await chat.send('GET', '/api/documents')).json.total, 4);
});

test('the handbook comes beside documents of somebody else only on demand, and replaces none', async () => {
  await using chat = await startChat();
  await chat.upload([{ name: 'ours.md', content: '# Ours\n\nThe gate closes at nine.\n' }]);
  assert.equal(await loadHandbook(chat.environment, chat.context), undefined);
  await chat.upload([{ name: 'security.md', content: '# Also ours\n\nThe gate opens at six.\n' }]);
  assert.equal(await loadHandbook(chat.environment, chat.context), undefined);
  assert.equal(await loadHandbook(chat.environment, chat.context, true), 4);
  assert.equal((await chat.send('GET', '/api/documents')).json.total, 6);
});
