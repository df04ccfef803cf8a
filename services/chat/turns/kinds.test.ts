import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { eventsOf, startChat } from '../testing.ts';

const chat = await startChat();
after(() => chat[Symbol.asyncDispose]());
await chat.upload([
  {
    name: 'handbook.md',
    content: `# Staff handbook

## Vacation

Each employee has 28 days of vacation per calendar year. Vacation has to be requested two weeks before it begins.

## Sick leave

Call your manager before nine on the first day of sick leave. A certificate is needed from the fourth day.

## Bicycles

Bicycles are parked in the cellar. The key of the cellar is at the reception.
`,
  },
  {
    name: 'hausordnung.md',
    content:
      '# Hausordnung\n\n## Ruhezeiten\n\nDie Ruhezeit dauert von 22 Uhr bis 6 Uhr. In dieser Zeit sind laute Arbeiten verboten.\n\n## Müll\n\nDer Müll wird am Dienstag abgeholt.\n',
  },
]);
const ask = async (query: string, more: object = {}, headers: Record<string, string> = {}) =>
  (await chat.send('POST', '/api/chat', { query, ...more }, headers)).json;
const vacation = 'How many days of vacation does each employee have per calendar year?';
const near = 'How many days of vacation does an apprentice have in Norway?';

interface Shown {
  readonly document_id: string;
  readonly start: number;
  readonly end: number;
  readonly snippet: string;
  readonly best: { readonly start: number; readonly end: number; readonly text: string } | null;
}

async function assertMarked(sources: readonly Shown[]): Promise<void> {
  assert.ok(sources.length > 0);
  for (const { document_id, start, end, snippet, best } of sources) {
    const { text } = await chat.send('GET', `/api/documents/${document_id}/text`);
    assert.ok(best);
    assert.equal(text.slice(best.start, best.end), best.text);
    assert.ok(best.start >= start && best.end <= end && snippet.includes(best.text));
  }
}

test('a question that one place answers gets that place alone', async () => {
  const turn = await ask(vacation);
  assert.deepEqual([turn.kind, turn.abstained, turn.grounded], ['quote', false, true]);
  assert.ok(turn.metadata.confidence >= 0.7, turn.metadata.confidence);
  assert.equal(turn.citations.length, 1);
  assert.match(turn.answer, /^Each employee has 28 days.*\[1\]$/s);
  assert.match(turn.sources[0].best.text, /28 days/);
  await assertMarked(turn.sources);
});

test('a question that nothing is known to answer gets what comes closest, which claims nothing', async () => {
  const turn = await ask(near);
  assert.deepEqual([turn.kind, turn.abstained], ['closest', true]);
  assert.ok(turn.metadata.confidence < 0.7, turn.metadata.confidence);
  assert.match(turn.answer, /^I am not sure that the documents answer this\. What comes closest:\n\n/);
  assert.ok(turn.citations.length >= 1 && turn.citations.length <= 3);
  for (const { answer_start, answer_end, quote, source_index } of turn.citations) {
    assert.equal(turn.answer.slice(answer_start, answer_end), quote);
    assert.equal(turn.answer.slice(answer_end, answer_end + 4), ` [${source_index}]`);
    assert.equal(turn.sources[source_index - 1].best.text, quote);
  }
  await assertMarked(turn.sources);
});

test('a question about something else gets nothing, in its language, else in that of the client', async () => {
  const turn = await ask('Who composed the opera Tosca?');
  assert.deepEqual([turn.kind, turn.abstained, turn.citations], ['none', true, []]);
  assert.equal(turn.answer, 'I found no answer to this in the documents.');
  const german = await ask('Wer hat die Oper Tosca komponiert?', {}, { 'accept-language': 'fr' });
  assert.deepEqual(
    [german.answer, german.metadata.language],
    ['Ich habe in den Dokumenten keine Antwort darauf gefunden.', 'de'],
  );
  const unclear = await ask('Tosca Puccini', {}, { 'accept-language': 'it-IT,it;q=0.9' });
  assert.equal(unclear.answer, 'Non ho trovato una risposta a questo nei documenti.');
  assert.equal((await ask('Tosca Puccini')).answer, 'I found no answer to this in the documents.');
});

test('what comes closest to a German question is told in German', async () => {
  const turn = await ask('Gilt die Ruhezeit auch am Sonntag?');
  assert.equal(turn.kind, 'closest');
  assert.match(turn.answer, /^Ich bin nicht sicher, ob die Dokumente das beantworten\. Am nächsten kommt:/);
});

test('streams, completions, searches and stored messages tell the same kind and places', async () => {
  const session = (await chat.send('POST', '/api/session')).json.session_id;
  const turn = await ask(near, { session_id: session });
  const events = [];
  for await (const event of eventsOf(chat, { query: near })) events.push(event);
  const done = events.find(({ event }) => event === 'done')?.data;
  const sources = events.find(({ event }) => event === 'sources')?.data.sources;
  assert.deepEqual([done.kind, done.sources, sources], [turn.kind, turn.sources, turn.sources]);
  const completion = await chat.send('POST', '/v1/chat/completions', {
    model: 'builtin-extractive',
    messages: [{ role: 'user', content: near }],
  });
  assert.deepEqual([completion.json.kind, completion.json.sources], [turn.kind, turn.sources]);
  const found = await chat.send('POST', '/api/search', { query: near });
  await assertMarked(found.json.results);
  const { messages } = (await chat.send('GET', `/api/session/${session}`)).json;
  assert.deepEqual([messages[0].kind, messages[1].kind], [undefined, 'closest']);
  assert.deepEqual(messages[1].sources, turn.sources);
  const { text } = await chat.send('GET', `/api/session/${session}/export?format=md`);
  assert.match(text, /- \[1\] Staff handbook, .*Vacation \(handbook\.md\)\n {2}> Each employee has 28 days/);
});

test('the kinds are named where the API is described', async () => {
  const { json } = await chat.send('GET', '/openapi.json');
  assert.deepEqual(json.components.schemas.ChatAnswer.properties.kind.enum, [
    'quote',
    'closest',
    'none',
    'reply',
    'generated',
  ]);
  assert.ok(json.components.schemas.Source.properties.best);
});
