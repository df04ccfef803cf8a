import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startChat } from '../testing.ts';

const harbor = `The harbor of Vik was planned for many years by the fishers of the town, and the council often spoke of it.
The harbor of Vik was opened for 300 boats. The people opened the harbor of Vik in 1931, after a storm had taken the old pier. The ferry Gullfoss is the pride of the harbor of Vik. It was built in Bergen
for the northern line. The harbor of Vik has a master whom the council chooses. Astrid Dahl has led the harbor since spring. The harbor of Vik
has berths for boats. There are 48 berths for boats of guests in the harbor of Vik.`;

test('the first sentence has what the question asks for: a time, a number, a name, or what a pronoun stands for', async () => {
  await using chat = await startChat();
  await chat.upload([{ name: 'harbor.txt', content: harbor }]);
  const firstOf = async (query: string) => {
    const { json: turn } = await chat.send('POST', '/api/chat', { query, use_tools: false });
    return turn.citations[0]?.quote ?? turn.answer;
  };
  assert.match(await firstOf('When was the harbor of Vik opened?'), /1931/);
  assert.match(await firstOf('How many berths for boats does the harbor of Vik have?'), /48/);
  assert.match(await firstOf('Who has led the harbor of Vik?'), /Astrid Dahl/);
  assert.match(await firstOf('Where was the Gullfoss built?'), /Bergen/);
});
