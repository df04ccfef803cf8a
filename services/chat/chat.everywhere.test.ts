import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startChat } from './testing.ts';

const chat = await startChat();
after(() => chat[Symbol.asyncDispose]());

const handbook = `# Staff handbook

## Vacation

Everybody has 27 days of vacation in a year. Unused days move to the next year until the end of March.

## Travel

Book trains first. Flights need the approval of your lead.
`;

test('a question is answered with a sentence of an uploaded document', async () => {
  const uploaded = await chat.upload([{ name: 'handbook.md', content: handbook }]);
  assert.equal(uploaded.status, 201, uploaded.text);
  const [document] = uploaded.json.documents;
  assert.equal(document.status, 'indexed');
  const { status, json: turn } = await chat.send('POST', '/api/chat', {
    query: 'How many days of vacation do I have?',
  });
  assert.equal(status, 200);
  assert.match(turn.answer, /^Everybody has 27 days of vacation in a year\. .*\[1\]$/);
  const text = (await chat.send('GET', `/api/documents/${document.document_id}/text`)).text;
  for (const { quote, quote_start, quote_end, answer_start, answer_end } of turn.citations) {
    assert.equal(text.slice(quote_start, quote_end), quote);
    assert.equal(turn.answer.slice(answer_start, answer_end), quote);
  }
  assert.equal(turn.sources[0].section, 'Staff handbook > Vacation');
  const session = await chat.send('GET', `/api/session/${turn.session_id}`);
  assert.deepEqual(
    session.json.messages.map(({ role }: { role: string }) => role),
    ['user', 'assistant'],
  );
});

test('each strategy finds the passage, and what no document says is not answered', async () => {
  for (const strategy of ['semantic', 'hybrid', 'multi_query', 'decomposed']) {
    const { json } = await chat.send('POST', '/api/search', { query: 'Who approves flights?', strategy });
    assert.match(json.results[0].snippet, /approval of your lead/, strategy);
  }
  const { json } = await chat.send('POST', '/api/chat', { query: 'What is the boiling point of mercury?' });
  assert.equal(json.abstained, true);
  assert.deepEqual(json.citations, []);
});

test('what is wrong with a request is named', async () => {
  const { status, json } = await chat.send('POST', '/api/chat', { query: 'x', strategy: 'magic' });
  assert.equal(status, 400);
  assert.equal(json.error.code, 'validation_error');
  assert.deepEqual(json.error.details[0].allowed, ['semantic', 'hybrid', 'multi_query', 'decomposed']);
  assert.equal((await chat.send('POST', '/api/chat', {})).json.error.details[0].path, 'query');
  assert.equal((await chat.send('GET', '/api/session/nothing')).json.error.code, 'not_found');
});

test('a quote is shown without images, and its own numbers are no sources', async () => {
  const content =
    'The lighthouse of Skagen[3] opens at nine ![on the map](http://evil.example/x.png?q=1) <img src="http://evil.example/y.png">.';
  const uploaded = await chat.upload([{ name: 'skagen.txt', content }]);
  const [{ document_id }] = uploaded.json.documents;
  const { json: turn } = await chat.send('POST', '/api/chat', {
    query: 'When does the lighthouse of Skagen open?',
  });
  assert.equal(turn.answer, 'The lighthouse of Skagen(3) opens at nine on the map . [1]');
  const [{ quote, quote_start, quote_end, answer_start, answer_end }] = turn.citations;
  const { text } = await chat.send('GET', `/api/documents/${document_id}/text`);
  assert.equal(text.slice(quote_start, quote_end), quote);
  assert.equal(turn.answer.slice(answer_start, answer_end), turn.answer.slice(0, -' [1]'.length));
});

test('limits have the same names wherever they are told', async () => {
  const { limits } = (await chat.send('GET', '/api/system/info')).json;
  const { extensions, ...ofUploads } = (await chat.send('GET', '/api/upload')).json;
  assert.ok(extensions.includes('pdf'));
  assert.deepEqual(limits, ofUploads);
  assert.equal(limits.max_file_bytes, 25 * 1024 * 1024);
});

test('a rare word says more than many occurrences of a common one', async () => {
  const common = Array.from({ length: 12 }, (_, number) => ({
    name: `harbor-${number}.txt`,
    content: `The harbor is near. ${'Harbor dues are paid in the harbor. '.repeat(1 + number)}`,
  }));
  const rare = {
    name: 'rare.txt',
    content: 'A heliotrope grows behind the wall.',
  };
  await chat.upload(common.slice(0, 6));
  await chat.upload([...common.slice(6), rare]);
  const query = 'Harbor dues, and the heliotrope';
  const { json } = await chat.send('POST', '/api/search', { query, rerank: false });
  assert.equal(json.results[0].source, 'rare.txt');
});

test('a deleted document is found no more', async () => {
  const uploaded = await chat.upload([
    { name: 'ships.txt', content: 'The ferry Gullfoss sails on Mondays.' },
  ]);
  const id = uploaded.json.documents[0].document_id;
  const search = () => chat.send('POST', '/api/search', { query: 'Gullfoss ferry' });
  assert.equal((await search()).json.results[0].source, 'ships.txt');
  assert.equal((await chat.send('DELETE', `/api/documents/${id}`)).status, 204);
  assert.equal((await chat.send('DELETE', `/api/documents/${id}`)).status, 404);
  assert.ok((await search()).json.results.every(({ source }: { source: string }) => source !== 'ships.txt'));
});
