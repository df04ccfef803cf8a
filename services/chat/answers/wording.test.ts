import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startChat } from '../testing.ts';
import { isOpposite } from './question/opposites.ts';
import { unitsOf } from './structure.ts';

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

test('a text is the opposite of a question only if it lacks what is asked for', () => {
  assert.ok(isOpposite('What is the maximum length?', 'minLength is 3'));
  assert.ok(isOpposite('When does a woman retire?', 'Sex: male; Age: 67'));
  assert.ok(!isOpposite('What is the maximum length?', 'min 3, max 9'));
  assert.ok(!isOpposite('What are the minimum and the maximum?', 'The minimum is 3.'));
  assert.ok(!isOpposite('How long is it?', 'The minimum is 3.'));
});

test('the answer below a question knows it, and an option inside an entry is one of its own', () => {
  const faq = 'Q: How do I tie up my boat?\n\nA: With the rope.\n\nQ: Is there water?\n\nA: At each berth.';
  const answers = unitsOf(faq).filter(({ text }) => text.startsWith('A:'));
  assert.deepEqual(
    answers.map(({ lead }) => lead && faq.slice(lead.start, lead.end)),
    ['Q: How do I tie up my boat?', 'Q: Is there water?'],
  );
  const entry =
    '--book\n    Books a berth.\n\n    --nights\n           So many nights.\n\n    --quiet\n           No messages.';
  assert.deepEqual([...new Set(unitsOf(entry).map(({ term }) => term))], ['--book', '--nights', '--quiet']);
});
