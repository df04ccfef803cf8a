import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startChat } from '../testing.ts';

const facts = `country,year,lifeExp
Vardia,1952,68
Vardia,2007,81
Sulavia,1952,61
Sulavia,2007,79
`;
const manual = `Harbor of Vardehavn

The Harbor Master serves for one year. The Harbor Clerk serves for three years.

In Vardehavn the election was won by Ingrid Holm, with 2900 votes in total for all who stood.

Guests pay 20 crowns for a berth. For students a berth costs 5 crowns.
`;

test('another thing takes the place of one of its kind, and the rest of the question stays', async () => {
  await using chat = await startChat();
  await chat.upload([
    { name: 'countries.csv', content: facts },
    { name: 'harbor.txt', content: manual },
  ]);
  const talk = async (...turns: readonly string[]) => {
    let session: string | undefined;
    const searched: string[] = [];
    let answer = '';
    for (const query of turns) {
      const { json } = await chat.send('POST', '/api/chat', { query, session_id: session });
      session = json.session_id;
      searched.push(json.metadata.queries[0]);
      answer = json.answer;
    }
    return { searched: searched.at(-1), answer };
  };
  for (const [turns, searched, expected] of [
    [
      ['What was the life expectancy in Vardia in 2007?', 'And in Sulavia?', 'And in 1952?'],
      'What was the life expectancy in Sulavia in 1952?',
      /Sulavia.*61/,
    ],
    [
      ['How long does the Harbor Master serve?', 'And the Harbor Clerk?'],
      'How long does the Harbor Clerk serve?',
      /three years/,
    ],
    [
      ['What does a berth cost for guests?', 'And for students?'],
      'What does a berth cost for students?',
      /5 crowns/,
    ],
    [
      ['Who won the election in Vardehavn?', 'How many votes in total?'],
      'How many votes in total?',
      /2900 votes/,
    ],
    // A question that stands alone leaves the topic.
    [
      ['What was the life expectancy in Vardia in 2007?', 'How long does the Harbor Master serve?'],
      'How long does the Harbor Master serve?',
      /one year/,
    ],
  ] as const) {
    const last = await talk(...turns);
    assert.match(last.answer, expected, turns.join(' '));
    assert.equal(last.searched, searched);
  }
});

test('a question that says that it is about something else leaves the topic', async () => {
  await using chat = await startChat();
  await chat.upload([{ name: 'harbor.txt', content: manual }]);
  const first = (await chat.send('POST', '/api/chat', { query: 'How long does the Harbor Master serve?' }))
    .json;
  const query = 'OK, another question: what does it cost for students?';
  const { json } = await chat.send('POST', '/api/chat', { query, session_id: first.session_id });
  assert.equal(json.metadata.queries[0], 'what does it cost for students?');
});
