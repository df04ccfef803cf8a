import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import type { Post } from '../posts/post.ts';
import { postWith } from '../posts/testing.ts';
import { csvHeader, csvRecords } from './format.ts';

const createdAt = '2026-01-31T08:15:00.000Z';

function post(texts: { title?: string; body?: string } = {}): Post {
  const fog = { title: 'Fog', body: 'The ferries wait.' };
  return postWith({ id: 42, userId: 2, ...fog, createdAt, updatedAt: createdAt, ...texts });
}

function recordOf(texts: { title?: string; body?: string }, safe = true): string {
  return csvRecords([post(texts)], { safe });
}

test('a post is one record that ends with CRLF', () => {
  assert.equal(csvHeader, 'id,userId,title,body,createdAt,updatedAt\r\n');
  assert.equal(recordOf({}), `42,2,Fog,The ferries wait.,${createdAt},${createdAt}\r\n`);
  assert.equal(csvRecords([], { safe: true }), '');
});

test('cells are quoted only if necessary', () => {
  assert.match(recordOf({ title: 'one, two' }), /^42,2,"one, two",The/);
  assert.match(recordOf({ title: 'say "hi"' }), /^42,2,"say ""hi""",The/);
  assert.match(recordOf({ title: 'two\nlines' }), /^42,2,"two\nlines",The/);
  assert.match(recordOf({ title: ' spaces ' }), /^42,2, spaces ,The/);
  assert.match(recordOf({ title: 'Füße 👟' }), /^42,2,Füße 👟,The/);
});

test('text that a spreadsheet would evaluate gets an apostrophe, numbers do not', () => {
  const cases: [string, string][] = [
    ['=1+1', "'=1+1"],
    ['+49 170', "'+49 170"],
    ['-yes', "'-yes"],
    ['@sum', "'@sum"],
    ['\tx', "'\tx"],
    ['\rx', '"\'\rx"'],
    ['=HYPERLINK("a")', `"'=HYPERLINK(""a"")"`],
    ['-5', '-5'],
    ['+5.25', '+5.25'],
    ['-5 apples', "'-5 apples"],
    ['--5', "'--5"],
    ['-', "'-"],
    ["'=1+1", "''=1+1"],
    ["'''@sum", "''''@sum"],
    ["'-5", "''-5"],
    ["'quoted'", "'quoted'"],
    ['one; two', '"one; two"'],
    ['=a;b', `"'=a;b"`],
    ['a=1', 'a=1'],
  ];
  for (const [title, cell] of cases) {
    assert.equal(recordOf({ title }), `42,2,${cell},The ferries wait.,${createdAt},${createdAt}\r\n`);
  }
  assert.match(recordOf({ title: '=1+1' }, false), /^42,2,=1\+1,/);
});

test('a CSV parser reads the same text back', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.string({
      unit: fc.constantFrom('"', ',', '\r', '\n', '=', '-', "'", ' ', '7', 'é', '😀', '\uFEFF'),
      minLength: 1,
    }),
  );
  const posts = fc.array(fc.record({ title: text, body: text }).map(post), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(posts, (all) => {
      const read = parse(csvHeader + csvRecords(all, { safe: false }), {
        columns: true,
        cast: false,
        record_delimiter: '\r\n',
      });
      const written = all.map((each) => ({ ...each, id: String(each.id), userId: String(each.userId) }));
      assert.deepEqual(
        read.map((each) => ({ ...(each as object) })),
        written,
      );
    }),
    { numRuns: 300 },
  );
});
