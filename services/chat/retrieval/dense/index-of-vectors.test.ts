import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { DenseIndex, DenseScanner } from './index-of-vectors.ts';

const scanner = new DenseScanner();
after(() => scanner[Symbol.asyncDispose]());

let seed = 1;
function randomVector(dimensions: number): Float32Array {
  const values = Float32Array.from({ length: dimensions }, () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32 - 0.5;
  });
  const length = Math.sqrt(cosine(values, values));
  return values.map((value) => value / length);
}

function cosine(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] as number), 0);
}

/** Ten chunks a document; chunks have the numbers from 100. */
function indexOf(vectors: readonly Float32Array[]): DenseIndex {
  const index = new DenseIndex(scanner, vectors[0]?.length ?? 0);
  for (const [place, vector] of vectors.entries()) index.add(100 + place, Math.floor(place / 10), vector);
  return index;
}

// The second is large enough for a thread.
for (const [count, dimensions] of [
  [1_500, 64],
  [5_000, 1_024],
] as const) {
  test(`${count} vectors of ${dimensions} dimensions are compared as exactly as one byte a dimension allows`, async () => {
    const vectors = Array.from({ length: count }, () => randomVector(dimensions));
    const index = indexOf(vectors);
    const question = randomVector(dimensions);
    const exact = vectors.map((vector, place) => ({ id: 100 + place, score: cosine(question, vector) }));
    exact.sort((one, other) => other.score - one.score);
    const found = await index.nearest(question, 20);
    assert.equal(found.length, 20);
    for (const { id, score } of found)
      assert.ok(Math.abs(score - cosine(question, vectors[id - 100] as Float32Array)) < 0.01);
    const nearest = new Set(found.map(({ id }) => id));
    assert.ok(exact.slice(0, 10).every(({ id }) => nearest.has(id)));
    const [best] = found;
    index.removeDocument(Math.floor(((best?.id ?? 0) - 100) / 10));
    assert.ok((await index.nearest(question, 20)).every(({ id }) => id !== best?.id));
    assert.deepEqual([index.size, index.documentCount], [count - 10, count / 10 - 1]);
    const only = await index.nearest(question, 20, new Set([7]));
    assert.ok(only.length > 0 && only.every(({ id }) => id >= 170 && id < 180));
  });
}

test('a vector of another size, and an empty one, are left out', async () => {
  const index = indexOf([randomVector(8)]);
  index.add(1, 1, new Float32Array(0));
  index.add(2, 1, randomVector(9));
  assert.deepEqual([index.size, index.hasDocument(1)], [1, false]);
});
