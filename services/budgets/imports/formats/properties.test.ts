import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorMs } from '@octavo/testing';
import fc from 'fast-check';
import { createSource } from './parser.ts';
import type { SurveyOptions } from './reading.ts';
import { parseRow } from './row.ts';
import { FileSurvey } from './survey.ts';

/** Expenses of a file that comes in pieces of a size. */
function read(file: Uint8Array, options: Partial<SurveyOptions> = {}, size = file.length): string[] {
  const survey = new FileSurvey({ currency: 'EUR', guesses: false, ...options });
  for (let at = 0; at < file.length; at += size) survey.push(file.subarray(at, at + size));
  const found = survey.end();
  if ('problem' in found) return [found.problem];
  const { reading } = found;
  const source = createSource(reading);
  const text = new TextDecoder(reading.encoding).decode(file).replace(/\r\n?/g, '\n');
  const rows = [];
  for (let at = 0; at < text.length; at += size) rows.push(...source.push(text.slice(at, at + size)));
  return [...rows, ...source.end()]
    .map((row) => parseRow(row, reading))
    .flatMap((row) =>
      'expense' in row
        ? `${row.expense.spentOn} ${row.expense.minor} ${row.expense.description}`
        : 'error' in row
          ? `error ${row.error.field}`
          : [],
    );
}

const day = fc.record({
  year: fc.integer({ min: 2007, max: 2030 }),
  month: fc.integer({ min: 1, max: 12 }),
  day: fc.integer({ min: 1, max: 28 }),
});
const expense = fc.record({
  day,
  minor: fc.integer({ min: 1, max: 99_999_999 }),
  text: fc.stringMatching(/^[A-Z][a-zäöüß ]{0,20}[a-z]$/),
});
type Expense = typeof expense extends fc.Arbitrary<infer T> ? T : never;
const expenses = fc.array(expense, { minLength: 1, maxLength: 8 });
const two = (number: number) => String(number).padStart(2, '0');
const isoOf = ({ day: { year, month, day } }: Expense) => `${year}-${two(month)}-${two(day)}`;
const said = (rows: readonly Expense[]) => rows.map((row) => `${isoOf(row)} ${row.minor} ${row.text}`);

const dayWays: readonly ((row: Expense) => string)[] = [
  isoOf,
  ({ day: { year, month, day } }) => `${year}${two(month)}${two(day)}`,
  ({ day: { year, month, day } }) => `${year}.${two(month)}.${two(day)}.`,
  (row) => `${isoOf(row)}T10:20:30`,
  ({ day: { year, month, day } }) =>
    `${day} ${'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')[month - 1]} ${year}`,
];
const grouped = (whole: number, sign: string) => String(whole).replace(/\B(?=(\d{3})+$)/g, sign);
const amountWays: readonly ((minor: number) => string)[] = [
  (minor) => `-${Math.floor(minor / 100)}.${two(minor % 100)}`,
  (minor) => `-${grouped(Math.floor(minor / 100), ',')}.${two(minor % 100)}`,
  (minor) => `-${grouped(Math.floor(minor / 100), '.')},${two(minor % 100)}`,
  (minor) => `\u2212${grouped(Math.floor(minor / 100), '\u00a0')},${two(minor % 100)} €`,
  (minor) => `(${grouped(Math.floor(minor / 100), "'")}.${two(minor % 100)})`,
  (minor) => `${Math.floor(minor / 100)}.${two(minor % 100)}-`,
  (minor) => `EUR -${Math.floor(minor / 100)}.${two(minor % 100)}00`,
];
const layout = fc.record({
  separator: fc.constantFrom(';', '\t', '|'),
  newline: fc.constantFrom('\n', '\r\n', '\r'),
  above: fc.constantFrom([], ['My account'], ['sep=;'], ['Statement', '', 'EUR']),
  isQuoted: fc.boolean(),
  hasBlanks: fc.boolean(),
  repeats: fc.boolean(),
  extra: fc.integer({ min: 0, max: 2 }),
  encoding: fc.constantFrom('utf-8', 'utf-8 with mark', 'utf-16le'),
  days: fc.constantFrom(...dayWays),
  amounts: fc.constantFrom(...amountWays),
  size: fc.integer({ min: 1, max: 300 }),
});
type Layout = typeof layout extends fc.Arbitrary<infer T> ? T : never;

function written(rows: readonly Expense[], how: Layout): Uint8Array {
  const separator = how.above[0] === 'sep=;' ? ';' : how.separator;
  const line = (cells: readonly string[]) =>
    `${cells.map((cell) => (how.isQuoted ? `"${cell}"` : cell)).join(separator)}${separator.repeat(how.extra)}`;
  const header = line(['Date', 'Payee', 'Amount']);
  const body = rows.flatMap((row) => [
    line([how.days(row), row.text, how.amounts(row.minor)]),
    ...(how.hasBlanks ? ['', line(['', '', ''])] : []),
    ...(how.repeats ? [header] : []),
  ]);
  const text = [...how.above, header, ...body, ''].join(how.newline);
  if (how.encoding === 'utf-16le') return Buffer.from(`\uFEFF${text}`, 'utf16le');
  return Buffer.from(how.encoding === 'utf-8' ? text : `\uFEFF${text}`);
}

test('the way in which a table is written changes no value', () => {
  fc.assert(
    fc.property(expenses, layout, (rows, how) => {
      const options = { sign: 'negative', decimal: undefined } as const;
      assert.deepEqual(read(written(rows, how), options), said(rows));
    }),
    { numRuns: 150 },
  );
});

test('OFX of both versions in pieces of any size gives the same expenses', () => {
  const way = fc.record({
    isXml: fc.boolean(),
    newline: fc.constantFrom('', '\n', '\r\n'),
    name: fc.constantFrom(
      (text: string) => text,
      (text: string) => `<![CDATA[${text}]]>`,
    ),
    comment: fc.constantFrom('', '<!-- <STMTTRN> & > -->'),
    decimal: fc.constantFrom('.', ','),
    size: fc.integer({ min: 1, max: 200 }),
  });
  fc.assert(
    fc.property(expenses, way, (rows, { isXml, newline, name, comment, decimal, size }) => {
      const tag = (tagName: string, value: string) =>
        `<${tagName}>${value}${isXml ? `</${tagName}>` : ''}${newline}`;
      const transactions = rows.map((row) => {
        const amount = `-${Math.floor(row.minor / 100)}${decimal}${two(row.minor % 100)}`;
        const posted = `${isoOf(row).replaceAll('-', '')}120000[-5:EST]`;
        return `${comment}<STMTTRN>${newline}${tag('DTPOSTED', posted)}${tag('TRNAMT', amount)}${tag('NAME', name(row.text))}</STMTTRN>`;
      });
      const file = `${isXml ? '<?xml version="1.0" encoding="UTF-8"?>' : 'OFXHEADER:100\n'}<OFX><BANKTRANLIST>${transactions.join(newline)}</BANKTRANLIST></OFX>`;
      assert.deepEqual(read(Buffer.from(file), {}, size), said(rows));
    }),
    { numRuns: 150 },
  );
});

test('no text throws, whatever it begins as', () => {
  const begins = [
    '',
    '<OFX><STMTTRN>',
    '!Type:Bank\n',
    ':20:a\n:25:b\n:28C:1\n',
    '<a><BkToCstmrStmt><Stmt>',
    'Date,Text,Amount\n',
  ];
  const parts = fc.array(
    fc.constantFrom(
      '<',
      '>',
      '"',
      '\n',
      '\r',
      ',',
      ';',
      '1',
      '-',
      '.',
      'D',
      '^',
      'T',
      ':61:',
      ':86:',
      '?20',
      '<![CDATA[',
      ']]>',
      '<!--',
      '-->',
      '&#0;',
      '&#x110000;',
      '<Ntry>',
      '</Ntry>',
      '\0',
      '\u{1f600}',
      '2026-01-01',
    ),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(fc.constantFrom(...begins), parts, fc.integer({ min: 1, max: 60 }), (begin, some, size) => {
      read(Buffer.from(begin + some.join('')), { guesses: true }, size);
    }),
    { numRuns: 200 },
  );
});

test('a file that is all beginnings takes as long as any other', async () => {
  const inside = {
    ofx: '<OFX><STMTTRN><MEMO>',
    csv: 'Date,Text,Amount\n',
    mt940: ':20:a\n:25:b\n:28C:1\n:86:',
  };
  const floods = {
    ofx: ['<!--', '<![CDATA[', '<', '<A>', '<BR>'],
    csv: ['"', '""', '1.', ' '],
    mt940: ['/REMI/', '?20', '\n'],
  };
  for (const [kind, parts] of Object.entries(floods)) {
    for (const part of parts) {
      const begin = inside[kind as keyof typeof inside];
      const tookMs = await processorMs(() =>
        read(Buffer.from(begin + part.repeat(200_000 / part.length)), { guesses: true }, 65_536),
      );
      assert.ok(tookMs < 2_000, `${kind} ${JSON.stringify(part)} took ${tookMs} ms`);
    }
  }
});
