import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { fieldsOfHeader, guessMapping, type ImportField, type Mapping } from './columns.ts';
import { createRowParser, type FileRow, tableOf } from './rows.ts';

const fields: readonly ImportField[] = [
  { name: 'title', label: 'Title', isRequired: true, synonyms: ['subject', 'headline'] },
  { name: 'body', label: 'Body', isRequired: true, synonyms: ['text'] },
  { name: 'userId', label: 'User ID', isRequired: false, synonyms: ['author'] },
];

function parserOf(format: 'csv' | 'json', mapping?: Mapping) {
  return createRowParser(format, {
    listName: 'posts',
    fieldsOf: (header) => fieldsOfHeader(fields, mapping ?? guessMapping(fields, header), header),
  });
}

function rowsOf(format: 'csv' | 'json', text: string, chunkLength = text.length || 1): FileRow[] {
  const parser = parserOf(format);
  const rows: FileRow[] = [];
  for (let at = 0; at < text.length; at += chunkLength)
    rows.push(...parser.push(text.slice(at, at + chunkLength)));
  return [...rows, ...parser.end()];
}

function parseAll(format: 'csv' | 'json', text: string, chunkLength?: number): unknown[] {
  return rowsOf(format, text, chunkLength).map(({ values }) => values);
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
        const expected = parse(text, { columns: true }) as Record<string, string>[];
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
          fc.dictionary(fc.string(), fc.jsonValue()).filter((object) => !('__proto__' in object)),
        ),
      ),
      fc.integer({ min: 1, max: 9 }),
      fc.constantFrom(0, 2),
      (values, length, indent) => {
        const list = values.map((value) => value ?? {});
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

test('CSV columns can be in any order, with other columns, semicolons, tabs, a byte order mark, or lines that end with CR', () => {
  assert.deepEqual(parseAll('csv', '\uFEFFBody;id;Title\r\n"b;1";7;a\r\n'), [{ body: 'b;1', title: 'a' }]);
  assert.deepEqual(parseAll('csv', 'title\tbody\tuserId\na\tb\t\nc\td\t007\n\n'), [
    { title: 'a', body: 'b', userId: '' },
    { title: 'c', body: 'd', userId: '007' },
  ]);
  assert.deepEqual(parseAll('csv', 'title,body\ra,b\rc,d'), [
    { title: 'a', body: 'b' },
    { title: 'c', body: 'd' },
  ]);
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
    assert.deepEqual(parseAll('csv', `title,body\n${cell},b\n`), [{ title, body: 'b' }]);
    assert.deepEqual(parseAll('json', JSON.stringify([{ title: cell }])), [{ title: cell }]);
  }
});

test('a row that is malformed has a problem, and the rows after it are read', () => {
  const text = 'title,body\na,b\nc,d,e\nf,,,\ng,"h"i\n"j,k\nl,m\n';
  for (const length of [1, 3, 100]) {
    const rows = rowsOf('csv', text, length);
    assert.deepEqual(
      rows.map(({ number, line, problem }) => [number, line, problem]),
      [
        [1, 2, undefined],
        [2, 3, 'has 3 cells, but the first line names 2 columns'],
        [3, 4, undefined],
        [4, 5, 'has a quote that is not closed properly'],
        [5, 6, 'has a quote that is not closed properly'],
        [6, 7, undefined],
      ],
      `in pieces of ${length}`,
    );
    assert.deepEqual([rows[1]?.values, rows[1]?.rest], [{ title: 'c', body: 'd' }, ['e']]);
    assert.deepEqual(rows.at(-1)?.values, { title: 'l', body: 'm' });
  }
  assert.equal(rowsOf('json', '[{}, 7]')[1]?.problem, 'must be an object');
});

test('a record whose lines arrive in parts has all of its cells', () => {
  assert.deepEqual(parseAll('csv', 'title,body,userId\n"a\nb",cd,ef\n', 20), [
    { title: 'a\nb', body: 'cd', userId: 'ef' },
  ]);
});

test('CSV columns can have other names', () => {
  const text = 'Headline;Text;title;Author\na;b;c;7\n';
  const read = (mapping: Mapping) => {
    const parser = parserOf('csv', mapping);
    return [...parser.push(text), ...parser.end()].map(({ values }) => values);
  };
  assert.deepEqual(read({ title: 'headline', body: ' Text ', userId: 'Author' }), [
    { title: 'a', body: 'b', userId: '7' },
  ]);
  assert.deepEqual(read({ title: 'title', body: 'Text' }), [{ title: 'c', body: 'b' }]);
  assert.throws(() => read({ title: 'title', body: 'Tekst' }), /does not name a column Tekst/);
  assert.throws(() => read({ title: 'Text', body: 'Text' }), /Text is chosen for two fields/);
  assert.throws(() => read({}), /Choose the column of the title and the body/);
  assert.deepEqual(tableOf(text).header, ['Headline', 'Text', 'title', 'Author']);
  assert.deepEqual(tableOf('a, b').header, ['a', 'b']);
  const guessed = guessMapping(fields, ['Text', 'SUBJECT', 'headline', 'User_id']);
  assert.deepEqual(guessed, { title: 'SUBJECT', body: 'Text', userId: 'User_id' });
});

test('a file that is not a list of rows is refused with a message', () => {
  const files: [format: 'csv' | 'json', text: string, message: RegExp][] = [
    ['csv', '', /is empty/],
    ['csv', 'id,name\n1,a\n', /Choose the column of the title and the body/],
    ['csv', 'title,body, TITLE\na,b,c\n', /names the column TITLE twice|names the column title twice/],
    ['csv', 'title,note,body,note\na,b,c,d\n', /names the column note twice/],
    ['csv', `title,body${',x'.repeat(1_000)}\na,b\n`, /names more than 1,000 columns/],
    ['json', '', /is empty/],
    ['json', '  ', /is empty/],
    ['json', 'title,body', /not a JSON list/],
    ['json', '"posts"', /not a JSON list/],
    ['json', '[{"title":"a"}', /ends inside its JSON list/],
    ['json', '[{"title":a}]', /not valid JSON near/],
    ['json', '{"title":"a"\n}', /not valid JSON near/],
    ['json', `[${'['.repeat(33)}`, /nested more than 32 levels deep/],
  ];
  for (const [format, text, message] of files) {
    for (const length of [1, 100]) assert.throws(() => parseAll(format, text, length), message, text);
  }
});

test('a JSON row of any length that cannot be valid is refused before it is kept', {
  timeout: 60_000,
}, () => {
  for (const start of ['[{"title":"', '{"title":"a"}\n{"title":"', ' ', '{']) {
    const parser = parserOf('json');
    parser.push(start);
    const chunk = ' '.repeat(65_536);
    const feed = () => {
      for (let chunks = 0; chunks < 2_000; chunks++) parser.push(chunk);
    };
    assert.throws(feed, /^Error: The file has a row of more than 300,000 characters\.$/, start);
    assert.throws(() => parseAll('json', `${start}${chunk.repeat(10)}`), /more than 300,000/);
  }
});

test('a CSV line of any length is one row that cannot be read, and is not kept', { timeout: 60_000 }, () => {
  for (const start of ['title,body\n"a', 'title,body\na', 'title,body\n"a\nb",c']) {
    const parser = parserOf('csv');
    const rows = parser.push(start);
    for (let chunks = 0; chunks < 500; chunks++) rows.push(...parser.push('""'.repeat(32_768)));
    rows.push(...parser.push('\nc,d\n'), ...parser.end());
    assert.ok(rows.length <= 3, `${rows.length} rows`);
    assert.deepEqual(rows.at(-1)?.values, { title: 'c', body: 'd' });
    for (const { problem } of rows.slice(0, -1)) assert.match(problem ?? '', /more than 300,000|quote/);
  }
  const endless = parserOf('csv');
  endless.push('title');
  assert.throws(() => endless.push(','.repeat(400_000)), /The first line of the file has more than 300,000/);
});

test('lines above the names of columns are left out, in pieces of any size', () => {
  const isHeader = (cells: readonly string[]) => cells.includes('title');
  const file = 'Export of May, all, posts\n\nMade by;x\ntitle;body\nA, b;c\nD;e\n';
  assert.deepEqual(tableOf(file, isHeader), { header: ['title', 'body'], above: 3 });
  assert.deepEqual(tableOf('name,text\nA,b\n', isHeader), { header: ['name', 'text'], above: 0 });
  for (const size of [1, 7, 1_000]) {
    const fieldsOf = (header: readonly string[]) => header.map((name, index) => [name, index] as const);
    const parser = createRowParser('csv', { fieldsOf, isHeader });
    const rows: FileRow[] = [];
    for (let at = 0; at < file.length; at += size) rows.push(...parser.push(file.slice(at, at + size)));
    rows.push(...parser.end());
    assert.deepEqual(
      rows.map(({ number, line, values }) => [number, line, values]),
      [
        [1, 5, { title: 'A, b', body: 'c' }],
        [2, 6, { title: 'D', body: 'e' }],
      ],
    );
  }
});

test('a table whose names are not known begins below lines that are not as wide', () => {
  const above = 'Posts of the harbor\nExported;2026-03-01\n';
  const known = (cells: readonly string[]) => cells.includes('title');
  const table = 'Schlagzeile;Rumpf;Autor;Datum\nFog;Ferries wait;alice;\nSun;Ferries go;bob;\n';
  assert.deepEqual(tableOf(`${above}${table}`, known), {
    header: ['Schlagzeile', 'Rumpf', 'Autor', 'Datum'],
    above: 2,
  });
  // A first line with fewer names than the rows have cells still names them.
  assert.equal(tableOf('Kopf;Rumpf;Autor\na;b;c;d\ne;f;g;h\n', known).above, 0);
  assert.equal(tableOf(`${above}title;body\na;b\n`, known).above, 2);
  assert.equal(tableOf('Kopf\nFog\nSun\n', known).above, 0);
});
