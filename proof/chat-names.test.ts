import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startChat } from '../services/chat/testing.ts';
import { startPortfolio } from '../services/portfolio/testing.ts';

const portfolio = await startPortfolio();
const chat = await startChat({ environment: { DOMAIN_API_URL: portfolio.url } });
after(async () => {
  await chat[Symbol.asyncDispose]();
  await portfolio[Symbol.asyncDispose]();
});
const csv = `Name,Note
Anna Vogt,"Allergic to nuts, carries an EpiPen"
Zoë Holm,"Allergic to bees, has no medicine"
`;
const yard = `# The yard

The caretaker is Mr. Holm. He has the keys to the shed. 31 people work at the yard.

Semaphore signals are shown from the tower at noon. Loam is delivered on Fridays.
`;
await chat.upload([
  { name: 'allergies.csv', content: csv },
  { name: 'yard.md', content: yard },
]);
const ask = async (query: string, more: object = {}) =>
  (await chat.send('POST', '/api/chat', { query, ...more })).json;
const people = /Berg|Müller|Stockholm|Hamburg|Berlin/;

test('a full name never means a namesake', async () => {
  const known = await ask('What is Anna Vogt allergic to?');
  assert.match(known.answer, /nuts/);
  for (const query of [
    'What is Anna Vogt allergic to?',
    'What is the phone number of Anna Vogt?',
    'who is anna vogt',
    'Who is Anna Vogt?',
    'Who is Anna Berg-Vogt?',
    'Tell me about Anna Maria Berg',
    'Where does Anna Berg Vogt work?',
    'Which companies does Anna Hamburg lead?',
    'which companies does zoe berg lead',
    'Which investments does Zoë Holm lead?',
  ]) {
    const { answer, api_data } = await ask(query);
    assert.doesNotMatch(answer, people, query);
    assert.deepEqual(api_data.team, [], query);
  }
  assert.equal((await ask('What is the phone number of Anna Vogt?')).abstained, true);
});

test('a part of a name counts where nothing else can be meant', async () => {
  assert.match((await ask('What does Siobhán work on?')).answer, /Siobhán O’Brien/);
  assert.match((await ask('What does Tidewater do?')).answer, /Tidewater Storage/);
  assert.match((await ask('Who is Mr Kjær?')).answer, /Søren Kjær/);
  // The documents have an Anna and a Zoë of their own.
  for (const query of ['Who is Anna?', 'What does Zoë work on?'])
    assert.doesNotMatch((await ask(query)).answer, people, query);
});

test('one word of the name of a company does not win over the library', async () => {
  const signals = await ask('When are semaphore signals shown?');
  assert.match(signals.answer, /noon/);
  assert.deepEqual(signals.api_data.investments, []);
  const loam = await ask('When is loam delivered?');
  assert.match(loam.answer, /Loam is delivered on Fridays\./);
  assert.deepEqual(loam.api_data.investments, []);
  assert.match((await ask('When did we invest in Loam?')).answer, /2023-03-14/);
});

test('what only looks like a question to the data is for the documents', async () => {
  assert.match((await ask('Who is the caretaker?')).answer, /Mr\. Holm/);
  assert.match((await ask('How many people work at the yard?')).answer, /31 people/);
  for (const query of [
    'Who is the treasurer?',
    'Who has the spare wheel?',
    'Who is in charge?',
    'How many people work at Borg Shipping?',
    'How many employees does Borg Shipping have in Hamburg?',
    'Which companies deliver timber?',
    'Who wrote the manual of the crane?',
  ]) {
    const { answer, abstained, citations } = await ask(query);
    const ofData = citations.filter(({ kind }: { kind: string }) => kind === 'api');
    assert.deepEqual([abstained, ofData], [true, []], `${query} ${answer}`);
    assert.doesNotMatch(answer, /The data does not tell/, query);
  }
});
