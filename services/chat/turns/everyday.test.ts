import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startChat } from '../testing.ts';

const handbook = `# Staff handbook

This handbook tells everybody at Nordlicht what they can expect, and what is expected of them.

## Vacation

Everybody has 27 days of vacation in a year.

## Sick leave

Tell your team by nine on the first day.
`;

test('greetings, thanks and questions about the library get a reply that is not a refusal', async () => {
  await using chat = await startChat();
  const ask = async (query: string, more: object = {}) =>
    (await chat.send('POST', '/api/chat', { query, ...more })).json;
  assert.match((await ask('hello')).answer, /no documents yet/);
  const { documents } = (
    await chat.upload([
      { name: 'handbook.md', content: handbook },
      { name: 'canteen.txt', content: 'The canteen opens at eleven.' },
    ])
  ).json;
  for (const [query, expected] of [
    ['Hi!', /“Staff handbook”/],
    ['good morning', /2 documents/],
    ['thank you very much!', /welcome/],
    ['great, that helps', /welcome/],
    ['ok', /know/],
    ['bye', /Goodbye/],
    ['ok bye, see you tomorrow', /Goodbye/],
    ['thanks a lot, that was just what I needed', /welcome/],
    ['are you a real person or a robot?', /chat of this library/],
    ['tell me a joke', /quotes from your documents/],
    ["you're useless, that isn't what I asked for", /^I am sorry/],
    ['what can you do?', /quotes from your documents/],
    ['How many documents are there?', /2 documents/],
    ['how many documents are in here?', /2 documents/],
    ['list the documents', /\n- Staff handbook \(handbook\.md\)/],
    ['which documents do you have?', /canteen/],
    ['Is there a document about the canteen?', /canteen\.txt/],
    ['Which file covers vacation?', /“vacation”:\n- Staff handbook/],
    ['Does any document mention chess?', /^No document mentions “chess”\./],
    ['what topics are covered?', /\n- Staff handbook/],
    ['summarize everything', /\n- Staff handbook/],
    ['Guten Tag!', /^Hallo! .* Es gibt 2 Dokumente, zum Beispiel .*“Staff handbook”/],
    ['merci beaucoup', /Je vous en prie/],
    ['who are you?', /chat of this library/],
    ['Where does this come from?', /quotes from your documents/],
    ['No, that is not what I asked.', /^I am sorry/],
    ["this doesn't help", /^I am sorry/],
    ['summarize it', /Which document do you mean/],
  ] as const) {
    const turn = await ask(query);
    assert.match(turn.answer, expected, query);
    assert.deepEqual([turn.kind, turn.abstained], ['reply', false], query);
    assert.equal(turn.metadata.mode, 'extractive');
  }
  const summary = await ask('Please summarize the handbook');
  assert.match(summary.answer, /This handbook tells everybody.* \[1\].*Vacation; Sick leave/s);
  const [citation] = summary.citations;
  assert.equal(summary.sources[citation.source_index - 1].source, 'handbook.md');
  const text = (await chat.send('GET', `/api/documents/${citation.document_id}/text`)).text;
  assert.equal(text.slice(citation.quote_start, citation.quote_end), citation.quote);
  assert.equal(summary.answer.slice(citation.answer_start, citation.answer_end), citation.quote);
  const only = documents.filter(({ filename }: { filename: string }) => filename === 'canteen.txt');
  const filters = { document_ids: only.map(({ document_id }: { document_id: string }) => document_id) };
  assert.match((await ask('How many documents are there?', { filters })).answer, /1 document/);
  assert.equal((await ask('summarize the quarterly report')).abstained, true);
  // Asked of an insurance, this is about what it says.
  assert.notEqual((await ask('Is vacation covered?')).kind, 'reply');
  assert.match((await ask('Where is vacation covered?')).answer, /Staff handbook/);
});

test('a greeting before a question does not take its place', async () => {
  await using chat = await startChat();
  await chat.upload([{ name: 'handbook.md', content: handbook }]);
  const { json } = await chat.send('POST', '/api/chat', {
    query: 'Hello there! How many days of vacation does everybody have?',
  });
  assert.match(json.answer, /27 days/);
});

test('documents on a topic are found by what they say where no title has it, and long lists are cut', async () => {
  await using chat = await startChat();
  const ask = async (query: string) => (await chat.send('POST', '/api/chat', { query })).json;
  await chat.upload([
    { name: 'games.txt', content: 'On Friday the club plays chess. The chess board is in the hall.' },
    { name: 'canteen.txt', content: 'The canteen opens at eleven.' },
  ]);
  for (const query of [
    'do you have something about chess?',
    'anything about chess?',
    'any documents on chess?',
  ])
    assert.match(
      (await ask(query)).answer,
      /^There is 1 document that mentions “chess”:\n- games\.txt$/,
      query,
    );
  const { abstained, answer: none } = await ask('is there anything on astronomy?');
  assert.equal(abstained, false);
  assert.match(none, /^No document mentions “astronomy”\./);
  assert.match((await ask('What do the documents say about the canteen?')).answer, /opens at eleven/);
  const files = Array.from({ length: 10 }, (_, place) => `${'long name '.repeat(12)}${place}.txt`);
  for (const name of files) await chat.upload([{ name, content: `The file of ${name}` }]);
  const { answer } = await ask('list the documents');
  assert.ok(answer.length < 1_200, answer.length);
  assert.match(answer, /- and \d more, which the page of documents lists$/);
});

test('a list has all documents, without their titles where these do not fit', async () => {
  await using chat = await startChat();
  for (let place = 0; place < 20; place++) {
    const content = `# ${'A rather long title of a handbook '.repeat(2)}${place}\n\nText number ${place}.`;
    await chat.upload([{ name: `handbook-${place}.md`, content }]);
  }
  const { answer } = (await chat.send('POST', '/api/chat', { query: 'list the documents' })).json;
  assert.equal(answer.match(/\n- handbook-\d+\.md/g)?.length, 20);
});

test('the columns of a table and what one document says are told', async () => {
  await using chat = await startChat();
  const ask = async (query: string) =>
    (await chat.send('POST', '/api/chat', { query, use_tools: false })).json;
  await chat.upload([
    { name: 'ferry-fees.csv', content: 'season,fee\nsummer,40\nwinter,12\n' },
    {
      name: 'mooring.txt',
      content:
        'Mooring guide\n\nTie the boat up at the bow. Storms come in spring.\n\nAUTHORS\n  Mooring was written by Astrid Dahl.\n\nLICENSE\n  Mooring is released under the MIT license.\n',
    },
    { name: 'about.md', content: '# Pier rules\n\nDogs stay on a leash. Music ends at ten.\n' },
    {
      name: 'weather.txt',
      content: 'Weather guide\n\nStorms are measured at the pier. Copyright 2020 Weather Inc.\n',
    },
  ]);
  const columns = await ask('What columns are there in the ferry fees?');
  assert.match(columns.answer, /has the columns season, fee\. The first row: season: summer; fee: 40 \[1\]/);
  assert.match((await ask('what is in the ferry fees table')).answer, /columns season, fee/);
  const said = await ask('What does the mooring guide say about storms?');
  assert.match(said.answer, /“Mooring guide” \(mooring\.txt\): Storms come in spring\. \[1\]/);
  assert.equal(said.sources[0].source, 'mooring.txt');
  assert.match((await ask('What does about.md say about dogs?')).answer, /Dogs stay on a leash\. \[1\]/);
});
