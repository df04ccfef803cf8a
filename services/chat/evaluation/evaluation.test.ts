import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { evaluateSet } from '../service.ts';
import { startChat } from '../testing.ts';
import { startEmbeddings } from '../testing-embeddings.ts';

const folder = testFolder('chat-evaluation');
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

test('a labelled set with its own documents is scored by each strategy', async () => {
  await using chat = await startChat();
  const set = join(folder, 'set');
  await mkdir(set);
  await writeFile(
    join(set, 'docs.jsonl'),
    lines([
      { id: 'ferry', title: 'Ferries', text: 'The ferry sails on Mondays.' },
      { id: 'bakery', text: 'The bakery sells rye bread.' },
      { id: 'museum', text: 'The museum opens at nine.' },
    ]),
  );
  const queries = [
    { id: '1', text: 'When does the ferry sail?' },
    { id: '2', text: 'Who sells rye bread?' },
    { id: '3', text: 'A question without a grade' },
  ];
  await writeFile(join(set, 'queries.jsonl'), lines(queries));
  // The second question has the wrong document on purpose: half of what can be reached is found.
  await writeFile(join(set, 'qrels.tsv'), 'query\tdocument\tgrade\n1\tferry\t2\n2\tmuseum\t1\n');
  const results = await evaluateSet(chat.environment, chat.context, set);
  assert.equal(results.length, 8);
  for (const { strategy, questions, ndcgAt10, mrrAt3, recallAt10, queriesPerSecond } of results) {
    assert.deepEqual([questions, ndcgAt10, mrrAt3, recallAt10], [2, 0.5, 0.5, 0.5], strategy);
    assert.ok(queriesPerSecond > 0);
  }
});

test('an embedding service is measured, and questions that it fails are counted', async () => {
  await using server = await startEmbeddings();
  await using chat = await startChat({
    environment: { EMBEDDING_BASE_URL: server.url, EMBEDDING_MODEL: 'scripted' },
  });
  const set = join(folder, 'meaning');
  await mkdir(set);
  const documents = [
    { id: 'ship', text: 'The ferry sails on Mondays.' },
    { id: 'bread', text: 'The bakery sells rye.' },
  ];
  await writeFile(join(set, 'docs.jsonl'), lines(documents));
  await writeFile(join(set, 'queries.jsonl'), lines([{ id: '1', text: 'Where is a loaf?' }]));
  await writeFile(join(set, 'qrels.tsv'), 'query\tdocument\tgrade\n1\tbread\t1\n');
  for (const { strategy, mrrAt3, fellBack } of await evaluateSet(chat.environment, chat.context, set))
    assert.deepEqual([mrrAt3, fellBack], [1, 0], strategy);
  await chat.upload([{ name: 'ship.txt', content: 'The ferry sails on Mondays.' }]);
  const file = join(folder, 'boats.jsonl');
  await writeFile(file, lines([{ query: 'Which boat?', documents: ['ship.txt'] }]));
  server.script = (reply) => reply.fail(500);
  const [first] = await evaluateSet(chat.environment, chat.context, file);
  assert.equal(first?.fellBack, 1);
});

test('questions are asked about the documents of the library', async () => {
  await using chat = await startChat();
  await chat.upload([
    { name: 'ferry.txt', content: 'The ferry sails on Mondays.' },
    { name: 'other.txt', content: 'Another ferry does not sail.' },
  ]);
  const file = join(folder, 'questions.jsonl');
  const question = { query: 'Does it sail on Mondays?', documents: ['ferry.txt', 'other.txt', 'gone.txt'] };
  await writeFile(file, lines([question]));
  const missing: string[] = [];
  const onMissing = (names: readonly string[]) => missing.push(...names);
  const results = await evaluateSet(chat.environment, chat.context, file, { onMissing });
  for (const { mrrAt3, recallAt10 } of results) assert.deepEqual([mrrAt3, recallAt10], [1, 2 / 3]);
  assert.deepEqual(missing, ['gone.txt']);
});

test('answers, refusals and ratings are counted', async () => {
  await using chat = await startChat();
  await chat.upload([{ name: 'ferry.txt', content: 'The ferry sails on Mondays.' }]);
  const { message_id: id } = (await chat.send('POST', '/api/chat', { query: 'When does the ferry sail?' }))
    .json;
  await chat.send('POST', `/api/chat/${id}/feedback`, { rating: 'down' });
  const file = join(folder, 'answers.jsonl');
  const documents = ['ferry.txt'];
  await writeFile(
    file,
    lines([
      { query: 'When does the ferry sail?', documents, answer: 'on mondays' },
      { query: 'When does the ferry sail on the sea?', documents, answer: 'on fridays' },
      { query: 'Who invented zirconium electrolysis?', documents, answer: null },
      { query: 'When does the ferry sail?', documents },
    ]),
  );
  const ratings: object[] = [];
  const onRatings = (counts: object) => ratings.push(counts);
  const results = await evaluateSet(chat.environment, chat.context, file, { onRatings });
  const hybrid = results.find(({ strategy, reranked }) => strategy === 'hybrid' && reranked);
  assert.deepEqual([hybrid?.judged, hybrid?.right, hybrid?.refused], [3, 2, 4 - (hybrid?.answered ?? 0)]);
  assert.ok((hybrid?.refused ?? 0) >= 1 && (hybrid?.answered ?? 0) >= 2);
  assert.deepEqual(ratings, [{ up: 0, down: 1 }]);
  await writeFile(file, lines([{ query: 'Why?', documents, answer: 7 }]));
  await assert.rejects(evaluateSet(chat.environment, chat.context, file), /line 1: must be/);
});

test('what is wrong with a set is named with its line', async () => {
  await using chat = await startChat();
  const evaluate = (path: string) => evaluateSet(chat.environment, chat.context, path);
  const file = join(folder, 'wrong.jsonl');
  const good = '{"query": "Why?", "documents": ["a.txt"]}\n\n';
  for (const [text, problem] of [
    [`${good}{"query": "no documents"}\n`, /wrong\.jsonl, line 3: must be \{"query"/],
    [`${good}{"query": "Why?", "documents": [7]}\n`, /line 3: must be/],
    [`${good}{"query"\n`, /line 3: is not a JSON object/],
    ['7\n', /line 1: is not a JSON object/],
    ['\n', /wrong\.jsonl has no questions/],
  ] as const) {
    await writeFile(file, text);
    await assert.rejects(evaluate(file), { code: 'invalid_input', message: problem });
  }
  await assert.rejects(evaluate(join(folder, 'none')), /none does not exist/);
  const set = join(folder, 'wrong');
  await mkdir(set);
  for (const [name, text, problem] of [
    ['docs.jsonl', lines([{ id: 1, text: 'One' }]), /docs\.jsonl, line 1: must be/],
    ['docs.jsonl', lines([{ id: 'one', text: 'One' }]), /qrels\.tsv does not exist/],
    ['qrels.tsv', 'query\tdocument\tgrade\n1\tone\tgood\n', /qrels\.tsv, line 2: must be/],
    ['qrels.tsv', 'query\tdocument\tgrade\n1\tone\t1\n', /queries\.jsonl does not exist/],
    ['queries.jsonl', '{"id": "1"}\n', /queries\.jsonl, line 1: must be/],
    ['queries.jsonl', lines([{ id: '2', text: 'Two?' }]), /wrong has no questions with documents/],
  ] as const) {
    await writeFile(join(set, name), text);
    await assert.rejects(evaluate(set), { code: 'invalid_input', message: problem });
  }
});
