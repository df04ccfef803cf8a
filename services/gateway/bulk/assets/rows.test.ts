import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { createRowParser, headerOf, problemOfRow } from './rows.js';

function parseAll(format: 'csv' | 'json', text: string, chunkLength = text.length || 1): unknown[] {
  const parser = createRowParser(format);
  const rows: unknown[] = [];
  for (let at = 0; at < text.length; at += chunkLength)
    rows.push(...parser.push(text.slice(at, at + chunkLength)));
  return [...rows, ...parser.end()];
}

const cell = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r\n', ' ', ';', '😀', '=') });
const posts = fc.array(fc.record({ userId: fc.nat(), title: cell, body: cell }));

test('CSV in chunks of any length is parsed as csv-parse parses the whole text', () => {
  const quote = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  fc.assert(
    fc.property(
      posts,
      fc.constantFrom('\n', '\r\n'),
      fc.integer({ min: 1, max: 9 }),
      (written, newline, length) => {
        const lines = written.map((post) => `${post.userId},${quote(post.title)},${quote(post.body)}`);
        const text = ['userId,title,body', ...lines].join(newline);
        const expected = (parse(text, { columns: true }) as Record<string, string>[]).map((row) => ({
          ...row,
          userId: Number(row.userId),
        }));
        assert.deepEqual(parseAll('csv', text, length), expected);
        assert.deepEqual(expected.length, written.length);
      },
    ),
  );
});

test('JSON in chunks of any length is parsed as JSON.parse parses the whole text', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          posts.map((list) => list[0]),
          fc.jsonValue(),
        ),
      ),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(0, 2),
      (values, length, indent) => {
        const list = values.map((value) => value ?? null);
        assert.deepEqual(
          parseAll('json', JSON.stringify(list, null, indent), length),
          JSON.parse(JSON.stringify(list)),
        );
        const wrapped = JSON.stringify({ posts: list, total: 1 }, null, indent);
        assert.deepEqual(parseAll('json', wrapped, length), JSON.parse(JSON.stringify(list)));
      },
    ),
  );
});

test('JSON can be one object per line', () => {
  const text = '{"title":"a","body":"b"}\n\n{"title":"c","body":"d"}';
  for (const length of [1, 2, 7, 100]) {
    assert.deepEqual(parseAll('json', text, length), [
      { title: 'a', body: 'b' },
      { title: 'c', body: 'd' },
    ]);
  }
});

test('CSV columns can be in any order, with other columns, semicolons, tabs or a byte order mark', () => {
  assert.deepEqual(parseAll('csv', '\uFEFFBody;id;Title\r\n"b;1";7;a\r\n'), [{ body: 'b;1', title: 'a' }]);
  assert.deepEqual(parseAll('csv', 'title\tbody\tuserId\na\tb\t\nc\td\t007\ne\tf\tx\n\n'), [
    { title: 'a', body: 'b' },
    { title: 'c', body: 'd', userId: 7 },
    { title: 'e', body: 'f', userId: 'x' },
  ]);
  assert.deepEqual(parseAll('csv', 'title,body\na\n'), [{ title: 'a' }]);
});

test('one apostrophe before text that a spreadsheet would evaluate is removed', () => {
  const cells = [
    ["'=1+1", '=1+1'],
    ["''=1+1", "'=1+1"],
    ["'-5", '-5'],
    ["'quoted'", "'quoted'"],
    ["'", "'"],
  ] as const;
  for (const [cell, title] of cells) {
    assert.deepEqual(parseAll('csv', `title,body,userId\n${cell},b,7\n`), [{ title, body: 'b', userId: 7 }]);
    assert.deepEqual(parseAll('json', JSON.stringify([{ title: cell }])), [{ title: cell }]);
  }
});

test('a row with more cells than the header has a problem', () => {
  const [first, second, third, ...others] = parseAll('csv', 'title,body\na,b\nc,d,e\nf\n');
  assert.deepEqual([first, third, others], [{ title: 'a', body: 'b' }, { title: 'f' }, []]);
  assert.equal(problemOfRow(first), undefined);
  assert.equal(problemOfRow(second), 'has 3 cells, but the first line of the file names 2 columns');
  assert.deepEqual((second as { unread?: object }).unread, { title: 'c', body: 'd', rest: ['e'] });
  assert.doesNotMatch(JSON.stringify(second), /unread/);
});

test('CSV columns can have other names', () => {
  const text = 'Headline;Text;title;Author\na;b;c;7\n';
  const parse = (names: Parameters<typeof createRowParser>[1]) => {
    const parser = createRowParser('csv', names);
    return [...parser.push(text), ...parser.end()];
  };
  assert.deepEqual(parse({ title: 'headline', body: ' Text ', userId: 'Author' }), [
    { title: 'a', body: 'b', userId: 7 },
  ]);
  assert.deepEqual(parse({ body: 'Text', userId: '' }), [{ title: 'c', body: 'b' }]);
  assert.throws(() => parse({ body: 'Tekst' }), /must name a column Tekst/);
  assert.throws(() => parse({ body: 'Text', userId: 'Writer' }), /must name a column Writer/);
  assert.throws(() => parse({ title: 'Text', body: 'Text' }), /Text is chosen for two fields/);
  assert.deepEqual(headerOf(text, false), ['Headline', 'Text', 'title', 'Author']);
  assert.deepEqual([headerOf('a,b', false), headerOf('a,b', true)], [[], ['a', 'b']]);
});

test('a file that is not a list of posts is refused with a message', () => {
  const files: [format: 'csv' | 'json', text: string, message: RegExp][] = [
    ['csv', '', /is empty/],
    ['csv', 'id,name\n1,a\n', /must name a column title/],
    ['csv', 'title,body, TITLE\na,b,c\n', /names the column title twice/],
    ['csv', 'title,note,body,note\na,b,c,d\n', /names the column note twice/],
    ['csv', 'title,body\n"a,b', /ends inside a quoted cell/],
    ['json', '', /is empty/],
    ['json', '  ', /is empty/],
    ['json', 'title,body', /not a JSON list/],
    ['json', '"posts"', /not a JSON list/],
    ['json', '[{"title":"a"}', /ends inside its list/],
    ['json', '[{"title":a}]', /not valid JSON near/],
    ['json', '{"title":"a"\n}', /not valid JSON near/],
  ];
  for (const [format, text, message] of files) {
    for (const length of [1, 100]) assert.throws(() => parseAll(format, text, length), message, text);
  }
});

test('a row of any length that cannot be valid is refused before it is kept', { timeout: 10_000 }, () => {
  const starts: ['csv' | 'json', string][] = [
    ['csv', 'title,body\n"a'],
    ['csv', 'title,body\na'],
    ['csv', 'title'],
    ['json', '[{"title":"'],
    ['json', '{"title":"a"}\n{"title":"'],
    ['json', ' '],
  ];
  for (const [format, start] of starts) {
    const parser = createRowParser(format);
    parser.push(start);
    const chunk = (format === 'csv' ? '""' : ' ').repeat(32_768);
    const feed = () => {
      for (let chunks = 0; chunks < 4_000; chunks++) parser.push(chunk);
    };
    assert.throws(feed, /^Error: The file has a row of more than 300,000 characters\.$/, start);
    assert.throws(() => parseAll(format, `${start}${chunk.repeat(10)}`), /more than 300,000/);
  }
});
