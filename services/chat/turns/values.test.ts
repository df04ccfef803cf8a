import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startChat } from '../testing.ts';

const manual = `FERRYD.CONF(5)                 Ferry Manual                 FERRYD.CONF(5)

NAME
       ferryd.conf - settings of the ticket server ferryd

SETTINGS
       max_tickets
              The maximum number of tickets that a guest may hold. The default is 12.

       seat_limit
              Limits what ferryd keeps in memory. A guest who asks for 6 or more connections
              in a minute has to wait.

       timeout (off|seconds)
              Sets a network timeout, in seconds. The argument off means that no timeout is
              set, so the default of the operating system will be used.

       journal
              Name of the journal file. Default: /var/lib/ferryd/journal.db This file keeps the
              bans of guests when ferryd is restarted.

       log_level
              The default log level is quiet. The port of ferryd is 4410.

NOTES
       A ticket may be at most 64 letters long. Rules say who may board, and ferryd reads rules
       in their order. The ferry Sula is green. The profiles of ships are read from
       /etc/ferryd/ships.d and shown to guests.

BERTHS
       A berth consists of two parts, and a berth has a lamp.

AUTHORS
       ferryd was written by Ingrid Holm. Its founder can be found in the Harbor Office.
`;
const cities = `ID          : 1
Population  : 2708
Name        : Vardehavn
Elevation   :
Entered-By  : pilot@ferry.example
//
ID          : 2
Population  : 9120
Name        : Sulavik
Elevation   : 114
Entered-By  : pilot@ferry.example
`;
const gdp = 'country,year,lifeExp,gdpPercap\nVardia,1952,68,8343\nSulavia,1952,61,2444\n';

async function startFerry() {
  const chat = await startChat();
  await chat.upload([
    { name: 'ferryd.conf.5.txt', content: manual },
    { name: 'cities.txt', content: cities },
    { name: 'countries.csv', content: gdp },
  ]);
  const ask = async (query: string, more: object = {}) =>
    (await chat.send('POST', '/api/chat', { query, ...more })).json;
  return { chat, ask };
}

test('a bound, a default and a price are answered by a text that states them', async () => {
  const { chat, ask } = await startFerry();
  await using _ = chat;
  for (const [query, expected] of [
    ['How many tickets can a guest hold at most?', /maximum number of tickets.*default is 12/s],
    ['How many letters can a ticket have at most?', /at most 64 letters/],
    ['What is the default log level of ferryd?', /quiet/],
    ['Who wrote ferryd?', /Ingrid Holm/],
    ['Where does ferryd look for the profiles of ships?', /\/etc\/ferryd\/ships\.d/],
  ] as const)
    assert.match((await ask(query)).answer, expected, query);
  for (const query of [
    'How many rules can ferryd hold at most?',
    'What does the ferry Sula cost?',
    'How many people use ferryd?',
    'How long is a berth?',
  ]) {
    const { abstained, answer } = await ask(query);
    assert.ok(abstained, `${query} ${answer}`);
  }
});

test('a name is not taken for a mistyped word, but a mistyped word is understood', async () => {
  const { chat, ask } = await startFerry();
  await using _ = chat;
  for (const query of [
    'What is the default log level of ferry3d?',
    'What is the default log level of ferryx?',
  ])
    assert.ok((await ask(query)).abstained, query);
  assert.match((await ask('Which port does fervyd use?')).answer, /4410/);
  assert.match((await ask('Which port does freryd use?')).answer, /4410/);
});

test('lines that name a property each are one record, and columns are found by what they abbreviate', async () => {
  const { chat, ask } = await startFerry();
  await using _ = chat;
  const small = await ask('What is the population of Vardehavn?');
  assert.match(small.answer, /Population : 2708\s+Name : Vardehavn/);
  const large = await ask('And of Sulavik?', { session_id: small.session_id });
  assert.match(large.answer, /9120/);
  assert.doesNotMatch(large.answer, /2708/);
  assert.match((await ask('What was the GDP per capita of Vardia in 1952?')).answer, /Vardia.*8343/);
  assert.match((await ask('What was the life expectancy in Sulavia in 1952?')).answer, /Sulavia.*61/);
  assert.ok((await ask('What was the currency of Vardia in 1952?')).abstained);
});

test('a follow-up is about the subject of the question before', async () => {
  await using chat = await startChat();
  const content = `Keys of gullmux

The prefix key of gullmux is C-g. A pane of gullmux is split by the key s.`;
  await chat.upload([{ name: 'keys.txt', content }]);
  const follow = async (first: string, next: string) => {
    const { session_id } = (await chat.send('POST', '/api/chat', { query: first })).json;
    return (await chat.send('POST', '/api/chat', { query: next, session_id })).json;
  };
  const split = await follow('What is the prefix key of gullmux?', 'How is a pane split in it?');
  assert.match(split.answer, /key s/);
});

test('who did something, and how many there are of a thing, has to be told', async () => {
  const { chat, ask } = await startFerry();
  await using _ = chat;
  const answerTo = async (query: string): Promise<string> => (await ask(query)).answer;
  const nothing = /do not say anything|I am not sure/;
  assert.match(await answerTo('Who wrote ferryd?'), /Ingrid Holm/);
  assert.match(await answerTo("Let's talk about something else: who wrote ferryd?"), /Ingrid Holm/);
  assert.match(await answerTo('How many letters may a ticket have?'), /64 letters/);
  assert.match(await answerTo('How many guests does ferryd serve?'), nothing);
  assert.match(await answerTo('What are the parts of a berth?'), /two parts/);
});
