import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configOf, openServiceDatabase } from '@octavo/data/service';
import { sentencesOf } from '@octavo/documents';
import { toQuestion } from '@octavo/reader/questions';
import { processorMs } from '@octavo/testing';
import { featureOf, featuresOf, unpackFeatures } from '../indexing.ts';
import { chat } from '../service.ts';
import type { Tables } from '../tables.ts';
import { startChat } from '../testing.ts';
import { fuse, interleave } from './ranking/fusion.ts';
import { Retriever } from './search.ts';
import { VectorIndex } from './sparse-index.ts';

const stems = (text: string) => toQuestion(text).terms.map(({ stem }) => stem);
const features = (text: string) => stems(text).map(featureOf);

function indexOf(texts: readonly string[]): VectorIndex {
  const index = new VectorIndex();
  for (const [number, text] of texts.entries()) {
    index.add(number + 1, number + 1, unpackFeatures(featuresOf({ title: '', section: '', text })));
  }
  return index;
}

test('the nearest chunk shares the rarest words', () => {
  const index = indexOf(['red boats sail', 'blue boats sail', 'green boats sail slowly home']);
  assert.equal(index.nearest(features('blue boats'), 10)[0]?.id, 2);
  assert.deepEqual(index.nearest(features('submarine'), 10), []);
  assert.deepEqual(
    index.nearest(features('boats'), 10, new Set([3])).map(({ id }) => id),
    [3],
  );
  assert.equal(index.nearest(features('boats'), 1).length, 1);
  for (const { score } of index.nearest(features('boats sail'), 10)) assert.ok(score > 0 && score <= 1.0001);
});

test('a document that was removed is near nothing', () => {
  const index = indexOf(['red boats', 'blue boats']);
  index.removeDocument(1);
  assert.deepEqual(
    index.nearest(features('red boats'), 10).map(({ id }) => id),
    [2],
  );
  assert.deepEqual([index.has(1), index.has(2), index.size], [false, true, 1]);
});

test('an index of many chunks finds the same as a comparison with each', () => {
  const words = 'ash birch cedar elm fir hazel larch maple oak pine'.split(' ');
  let seed = 7;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 1;
    return seed % below;
  };
  const texts = Array.from({ length: 3_000 }, () =>
    Array.from({ length: 1 + random(6) }, () => words[random(words.length)]).join(' '),
  );
  const index = indexOf(texts);
  const [best] = index.nearest(features('oak'), 5);
  const alone = texts.findIndex((text) => /^oak( oak)*$/.test(text)) + 1;
  assert.ok(alone > 0 && (best?.score ?? 0) > 0.99, 'a chunk of nothing else is nearest');
});

test('vectors that were read in advance are not read at the first question', async () => {
  await using running = await startChat();
  await running.upload([{ name: 'ships.txt', content: 'The ferry Gullfoss sails on Mondays.' }]);
  const config = configOf(chat, running.environment);
  await using database = await openServiceDatabase<Tables>(chat, config, running.context);
  const retriever = new Retriever(database);
  await retriever.preload();
  await database.write(({ kysely }) =>
    kysely.updateTable('chunk').set({ features: new Uint8Array() }).execute(),
  );
  const [library] = await database.kysely.selectFrom('library').select('id').execute();
  const libraries = [library?.id ?? 0];
  const question = { query: 'Gullfoss', strategy: 'semantic', topK: 5, rerank: false, libraries } as const;
  const { ranked } = await retriever.search(question);
  assert.deepEqual(
    ranked.map(({ source }) => source.source),
    ['ships.txt'],
  );
});

test('a chunk that both sides find comes before one that one side finds', () => {
  const keyword = [
    { id: 1, score: 9 },
    { id: 2, score: 8 },
  ];
  const vector = [
    { id: 2, score: 0.9 },
    { id: 3, score: 0.8 },
  ];
  const fused = fuse(keyword, vector);
  assert.deepEqual(
    fused.map(({ id, matchedBy }) => [id, matchedBy.join('+')]),
    [
      [2, 'keyword+vector'],
      [1, 'keyword'],
      [3, 'vector'],
    ],
  );
  assert.deepEqual(
    interleave([fuse(keyword, []), fuse(vector, [])]).map(({ id }) => id),
    [1, 2, 3],
  );
});

test('a passage with the words that the best passages share comes before another with as much of the question', async () => {
  await using running = await startChat();
  await running.upload([
    {
      name: 'one.txt',
      content: 'Flutter of panels: the damping of supersonic panels depends on the membrane stress.',
    },
    {
      name: 'two.txt',
      content: 'Flutter of panels in a supersonic stream is bounded by the membrane stress and damping.',
    },
    {
      name: 'near.txt',
      content: 'The flutter of a wing, its damping and its membrane stress in a supersonic stream.',
    },
    {
      name: 'far.txt',
      content: 'The flutter of a flag in a summer wind.',
    },
  ]);
  const { json } = await running.send('POST', '/api/search', { query: 'flutter of panels' });
  const names = json.results.map(({ source }: { source: string }) => source);
  assert.deepEqual(names.slice(2), ['near.txt', 'far.txt']);
});

test('the score of a reranked passage is over a half if it answers, and under it if it shares a word', async () => {
  await using running = await startChat();
  await running.upload([
    { name: 'ferry.txt', content: 'The ferry Gullfoss sails to Oslo on Mondays and Fridays.' },
    {
      name: 'bridge.txt',
      content: 'The bridge was painted on a day without wind, and was closed on Mondays in the winter.',
    },
  ]);
  const query = 'When does the ferry Gullfoss sail to Oslo on Mondays?';
  const { json } = await running.send('POST', '/api/search', { query });
  const scores = json.results.map((each: { rerank_score: number }) => each.rerank_score);
  assert.ok(scores[0] > 0.8 && scores[1] < 0.5, String(scores));
});

test('sentences end where readers end them', () => {
  const parts = (text: string) => sentencesOf(text).map(({ start, end }) => text.slice(start, end));
  assert.deepEqual(parts('Dr. Ada works. She has 3.5 days, e.g. Monday. "Good." Yes!'), [
    'Dr. Ada works.',
    'She has 3.5 days, e.g. Monday.',
    '"Good."',
    'Yes!',
  ]);
  assert.deepEqual(parts('One\n\nTwo\n- three\n- four'), ['One', 'Two', '- three', '- four']);
  assert.deepEqual(parts('1. Open the valve. Wait.\n2. Close it.\n\n2.3. Deposits are due. In 1. We know.'), [
    '1. Open the valve.',
    'Wait.',
    '2. Close it.',
    '2.3. Deposits are due.',
    'In 1.',
    'We know.',
  ]);
  assert.deepEqual(parts('iv. Pay.\n\n(b). Go. We met in 2024. Then we left.\n\n1.'), [
    'iv. Pay.',
    '(b). Go.',
    'We met in 2024.',
    'Then we left.',
    '1.',
  ]);
  assert.deepEqual(parts('猫。犬。'), ['猫。', '犬。']);
  assert.deepEqual(parts('  '), []);
});

test('a long run of stops is read at once', async () => {
  const ms = await processorMs(() => {
    assert.equal(sentencesOf(`${'.'.repeat(300_000)}x`).length, 1);
  });
  assert.ok(ms < 5_000, `${ms} ms`);
});
