import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FileRow } from '@octavo/web/imports';
import fc from 'fast-check';
import { createPostParser, postOf } from './bulk/import-fields.ts';
import { csvFormat } from './exports/format.ts';
import { postWith } from './posts/testing.ts';

const special = [
  '"',
  ',',
  ';',
  '\r',
  '\n',
  '\t',
  '=',
  '+',
  '-',
  '@',
  "'",
  ' ',
  '7',
  '.',
  'é',
  '😀',
  '\uFEFF',
];
const text = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1 }),
  fc.string({ unit: fc.constantFrom(...special), minLength: 1 }),
);
const posts = fc.array(
  fc.record({ userId: fc.integer({ min: 1 }), title: text, body: text }, { noNullPrototype: true }),
  {
    minLength: 1,
    maxLength: 5,
  },
);

test('posts that are exported as CSV and imported again are the same', () => {
  fc.assert(
    fc.property(posts, fc.boolean(), fc.integer({ min: 1, max: 50 }), (written, withMark, chunkLength) => {
      const { head, batch, tail } = csvFormat({ withMark, safe: true });
      const all = written.map((post, index) => postWith({ id: index + 1, ...post }));
      const file = head + batch(all, true) + tail;
      const name = 'posts.csv';
      const parser = createPostParser({ name });
      const read: FileRow[] = [];
      for (let at = 0; at < file.length; at += chunkLength) {
        read.push(...parser.push(file.slice(at, at + chunkLength)));
      }
      read.push(...parser.end());
      assert.deepEqual(
        read.map((row) => postOf(name, row).post),
        written,
      );
    }),
    { numRuns: 1_000 },
  );
});
