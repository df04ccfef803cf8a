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

const manual = `BERTH(1)                  Harbor Manual                  BERTH(1)

NAME
       berth - book a berth in the harbor of Vik

OPTIONS
       --nights count
              Books the berth for so many nights. At most 14 nights can be
              booked at a time. The default is 2 nights.

       --quiet
              Prints no messages while the berth is booked.

EXIT STATUS
       3   The berth is taken.

       4   The harbor is closed.
`;
const rates = 'season,year,fee in EUR\nsummer,2023,40\nsummer,2024,45\nwinter,2024,12\n';

test('entries of manuals and rows of tables are quoted whole, and what is not there is refused', async () => {
  await using chat = await startChat();
  await chat.upload([
    { name: 'berth.1.txt', content: manual },
    { name: 'rates.csv', content: rates },
  ]);
  const ask = async (query: string) => (await chat.send('POST', '/api/chat', { query })).json;
  const nights = await ask('What is the default number of nights of a berth?');
  assert.match(nights.answer, /--nights count.*The default is 2 nights\./s);
  const [citation] = nights.citations;
  const text = (await chat.send('GET', `/api/documents/${citation.document_id}/text`)).text;
  assert.equal(text.slice(citation.quote_start, citation.quote_end), citation.quote);
  assert.match((await ask('What does the option --quiet of berth do?')).answer, /Prints no messages/);
  assert.match((await ask('What does exit status 4 of berth mean?')).answer, /The harbor is closed/);
  assert.match((await ask('What was the fee in summer 2024?')).answer, /summer.*2024.*45/);
  for (const query of [
    'What does exit status 7 of berth mean?',
    'What does the option --loud of berth do?',
    'What was the fee in summer 2019?',
    'What is the default number of nights of a berth in Reykjavik?',
    'Who is the wealthiest captain?',
  ]) {
    const { abstained, answer, metadata } = await ask(query);
    assert.ok(abstained, `${query} ${answer}`);
    assert.ok(metadata.confidence < 0.5, `${query} ${metadata.confidence}`);
  }
});

test('misspelled words, British spelling, other words for the same and greetings are understood', async () => {
  await using chat = await startChat();
  const content =
    'Everybody has 27 days of vacation in a year. The color of the ferry is green. The kitchen closes at nine.';
  await chat.upload([{ name: 'notes.txt', content }]);
  for (const [query, expected] of [
    ['Hello, how mnay days of vacaton does everybody have?', /27 days/],
    ['How many days of holiday does everybody have?', /27 days/],
    ['What is the colour of the ferry?', /green/],
    ['Can you please tell me when the kitchen closes?', /nine/],
  ] as const) {
    const { json } = await chat.send('POST', '/api/chat', { query });
    assert.match(json.answer, expected, query);
  }
});

test('a follow-up takes what it needs from the questions before, and nothing where the topic changes', async () => {
  await using chat = await startChat();
  await chat.upload([
    { name: 'berth.1.txt', content: manual },
    { name: 'rates.csv', content: rates },
    { name: 'harbor.txt', content: harbor },
  ]);
  let session: string | undefined;
  const ask = async (query: string) => {
    const { json } = await chat.send('POST', '/api/chat', { query, session_id: session });
    session = json.session_id;
    return json;
  };
  await ask('What was the fee in summer 2023?');
  const later = await ask('And in summer 2024?');
  assert.match(later.citations[0].quote, /2024.*45/);
  await ask('What does exit status 3 of berth mean?');
  assert.match((await ask('thanks')).answer, /welcome/);
  assert.match((await ask('And 4?')).answer, /closed/);
  const other = await ask('When was the harbor of Vik opened?');
  assert.deepEqual(other.metadata.queries, ['When was the harbor of Vik opened?']);
});

const settings = `HARBORD(5)                 Harbor Manual                 HARBORD(5)

NAME
       harbord.conf - settings of the harbor daemon

SETTINGS
       BerthPorts
              Specifies whether boats use the port of the harbor daemon by default. The
              harbor daemon binds it by default, see harbord(8).

       Port   Specifies the port of the harbor daemon. The default is 7070.

       max_boats (integer)
              Sets the number of boats. The default is 90 boats.

       reserved_boats (integer)
              Sets boats that are reserved. The default is 3. Less than max_boats.
`;
const history = `The harbor of Vik is a two-handed game of fishers and guests, and the deck of the harbor of Vik is wide.
Overview: Vik has a deck of 101 planks. The harbor is in the north. Harborsoft 8 was called Gannet. The team has had 9 masters. Gudrun Lund was the leader of the harbor of Vik at the time.`;

test('the entry and the number that are asked for are quoted; what is only near them is refused', async () => {
  await using chat = await startChat();
  await chat.upload([
    { name: 'harbord.conf.5.txt', content: settings },
    { name: 'history.txt', content: history },
  ]);
  const ask = async (query: string) => (await chat.send('POST', '/api/chat', { query })).json;
  const firstOf = async (query: string) => (await ask(query)).citations[0]?.quote ?? '';
  assert.match(await firstOf('What is the default of max_boats?'), /90 boats/);
  assert.match(await firstOf('How many planks are in the deck of the harbor of Vik?'), /101 planks/);
  assert.match(await firstOf('What was Harborsoft 8 called?'), /Gannet/);
  for (const query of ['What was Harborsoft 9 called?', 'How many boats does the Oslo ferry have?']) {
    const { abstained, answer } = await ask(query);
    assert.ok(abstained, `${query} ${answer}`);
  }
});

const mailManual = `GULLD.CONF(5)                 Gull Manual                 GULLD.CONF(5)

NAME
       gulld.conf - settings of the mail server gulld

SETTINGS
       queue_lifetime
              How long an undeliverable message stays in the queue of gulld.

              The compiled-in default value is 5 days.

       run_user
              The user that gulld switches to after its start.

              The compiled-in default value is _gull.

       window_limit
              Sets the number of windows that are shown at a time. The default is 3.

       rate_limit
              The most messages that a client may send. The default is 20 per hour.

FILES
       /srv/gull  The files in this directory are cleared at the start of the system.
`;
const gullHistory = `Gulld was written by Sigrid Aune, as the Harbor Office wanted a mail server of its own. The files below
/var/srv/gull are kept for the auditors. Many people in offices use it. The windows of the office are small.
In the 1970s the office had a telegraph. Gulld was renamed in 1994, and a message stays for 9 days in the queue of its old version 2.`;

test('a word that decides what is asked for has to be met: another program, a platform, a unit, what is counted, a path', async () => {
  await using chat = await startChat();
  await chat.upload([
    { name: 'gulld.conf.5.txt', content: mailManual },
    { name: 'gull-history.txt', content: gullHistory },
  ]);
  const ask = async (query: string) => (await chat.send('POST', '/api/chat', { query })).json;
  for (const [query, expected] of [
    ['How long does an undeliverable message stay in the queue of gulld?', /default value is 5 days/],
    ['Which user does gulld switch to?', /_gull/],
    ['Who wrote gulld?', /Sigrid Aune/],
    ['What is the default number of windows in gulld?', /default is 3/],
    ['When are the files in /srv/gull cleared?', /cleared at the start/],
  ] as const) {
    const { answer } = await ask(query);
    assert.match(answer, expected, query);
  }
  for (const query of [
    'How long does an undeliverable message stay in the Gull3 queue?',
    'How long does an undeliverable message stay in the Exim queue?',
    'How long does an undeliverable message stay in the queue of sendmail?',
    'How many messages may a client send per second?',
    'How many processors does gulld need?',
    'Which user does gulld switch to on Windows?',
    'When was the queue cleared?',
  ]) {
    const { abstained, answer } = await ask(query);
    assert.ok(abstained, `${query} ${answer}`);
  }
});
