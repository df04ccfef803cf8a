import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '#kit/testing/folder.ts';
import { evaluateSet } from '../service.ts';
import { startChat } from '../testing.ts';

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

test('questions are asked about the documents of the library', async () => {
  await using chat = await startChat();
  await chat.upload([
    { name: 'ferry.txt', content: 'The ferry sails on Mondays.' },
    { name: 'other.txt', content: 'Another ferry does not sail.' },
  ]);
  const file = join(folder, 'questions.jsonl');
  const question = { query: 'Does it sail on Mondays?', documents: ['ferry.txt', 'other.txt', 'gone.txt'] };
  await writeFile(file, lines([question]));
  for (const { mrrAt3, recallAt10 } of await evaluateSet(chat.environment, chat.context, file))
    assert.deepEqual([mrrAt3, recallAt10], [1, 2 / 3]);
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
