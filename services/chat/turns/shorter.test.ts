import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startChat } from '../testing.ts';

test('a value is found by what a table calls it', async () => {
  await using chat = await startChat();
  await chat.upload([{ name: 'rates.csv', content: 'HARBOR,BERTHFEE,AGE\nVik,920,13\nSulavik,812,20\n' }]);
  const answerTo = async (query: string): Promise<string> =>
    (await chat.send('POST', '/api/chat', { query, use_tools: false })).json.answer;
  assert.match(await answerTo('How high was the berth fee (BERTHFEE) in Vik?'), /BERTHFEE: 920/);
});
