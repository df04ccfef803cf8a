import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { testFolder } from '@octavo/testing';
import { octavo } from '../../../../proof/command-line.ts';

const folder = testFolder('chat-eval');
const set = join(folder, 'set');
const evaluate = (...args: string[]) =>
  octavo(['chat', 'eval', ...args], { OCTAVO_DATA: folder, CHAT_EMBEDDINGS: 'off' });
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

mkdirSync(set);
const documents = [
  { id: 'ferry', text: 'The ferry sails on Mondays.' },
  { id: 'bakery', text: 'The bakery sells rye bread.' },
  { id: 'museum', text: 'The museum opens at nine.' },
];
const queries = [
  { id: '1', text: 'When does the ferry sail?' },
  { id: '2', text: 'Who sells rye bread?' },
];
writeFileSync(join(set, 'docs.jsonl'), lines(documents));
writeFileSync(join(set, 'queries.jsonl'), lines(queries));
// The second question has the wrong document on purpose.
writeFileSync(join(set, 'qrels.tsv'), 'query\tdocument\tgrade\n1\tferry\t2\n2\tmuseum\t1\n');

test('a labelled set is scored in a table, and as JSON', async () => {
  const { code, stdout, stderr } = await evaluate(set);
  assert.deepEqual([code, stderr], [0, '']);
  const [count, header, ...rows] = stdout.trim().split('\n');
  assert.equal(count, '2 questions');
  assert.equal(
    header?.replace(/ +/g, ' '),
    'strategy reranked nDCG@10 MRR@3 recall@10 answered refused right queries/s',
  );
  const strategies = ['semantic', 'hybrid', 'multi_query', 'decomposed'];
  const expected = strategies.flatMap((name) => ['no', 'yes'].map((reranked) => `${name} ${reranked}`));
  assert.deepEqual(
    rows.map((row) => row.replace(/ +/g, ' ').replace(/ \d+$/, '')),
    expected.map((row) => `${row} 0.500 0.500 0.500 2 0 -`),
  );
  const json = await evaluate(set, '--json');
  const scores = JSON.parse(json.stdout);
  assert.deepEqual(
    scores.map(({ strategy, reranked }: { strategy: string; reranked: boolean }) => [strategy, reranked]),
    strategies.flatMap((strategy) => [false, true].map((reranked) => [strategy, reranked])),
  );
  const { queriesPerSecond, ...first } = scores[0];
  assert.ok(queriesPerSecond > 0);
  assert.deepEqual(first, {
    strategy: 'semantic',
    reranked: false,
    questions: 2,
    answered: 2,
    refused: 0,
    judged: 0,
    right: 0,
    fellBack: 0,
    ndcgAt10: 0.5,
    mrrAt3: 0.5,
    recallAt10: 0.5,
  });
});

test('documents that are not there are named', async () => {
  const file = join(folder, 'library.jsonl');
  writeFileSync(
    file,
    lines([
      { query: 'Why?', documents: ['gone.txt', 'away.txt'] },
      { query: 'Who?', documents: ['gone.txt'] },
    ]),
  );
  const { code, stderr } = await evaluate(file);
  assert.deepEqual(
    [code, stderr],
    [0, 'octavo: 2 documents are not in the library, so never found: gone.txt, away.txt\n'],
  );
});

test('what is wrong is said in a line, without a table', async () => {
  const file = join(folder, 'questions.jsonl');
  writeFileSync(file, '{"query": "Why?", "documents": ["a.txt"]}\n{"query": "Why?"\n');
  for (const [args, problem] of [
    [[file], `octavo: ${file}, line 2: is not a JSON object\n`],
    [[join(folder, 'none')], `octavo: ${join(folder, 'none')} does not exist\n`],
    [[], 'octavo: octavo chat eval needs a folder, or a file of questions\n'],
  ] as const) {
    assert.deepEqual(await evaluate(...args), { code: 64, stdout: '', stderr: problem });
  }
});
