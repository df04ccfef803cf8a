import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startChat } from '../testing.ts';

const variables = `Variable,Default,Meaning
minCrateSize,1 kg,The smallest crate that the ferry of Vik takes.
maxCrateSize,900 kg,The largest crate that the ferry of Vik takes.
`;
const notes = `Ferry of Vik

The ferry of Vik stops at the pier while the fog is thick.

Dogs ride free of charge on the ferry of Vik.

Photographs of the ferry may be taken from the pier only.
`;

test('synonyms in a document answer a question, and its opposite does not', async () => {
  await using chat = await startChat();
  await chat.upload([
    { name: 'crates.csv', content: variables },
    { name: 'ferry.txt', content: notes },
  ]);
  const ask = async (query: string) =>
    (await chat.send('POST', '/api/chat', { query, use_tools: false })).json;
  assert.match((await ask('Where may pictures of the ferry be taken?')).answer, /from the pier only/);
  assert.match(
    (await ask('What is the largest crate size that the ferry takes?')).citations[0].quote,
    /900 kg/,
  );
  assert.match(
    (await ask('What is the smallest crate size that the ferry takes?')).citations[0].quote,
    /1 kg/,
  );
});
