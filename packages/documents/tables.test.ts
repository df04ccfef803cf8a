import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { extract } from './extract.ts';
import { pdfFrom, pdfOf } from './testing-pdf.ts';
import { tableWriters, testTables } from './testing-tables.ts';

const spreadsheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

test('days of a spreadsheet are dates, and the header is found below the title of a table', async () => {
  const row = (...cells: string[]) => `<row>${cells.join('')}</row>`;
  const cell = (name: string, value: string | number, format = 0) =>
    typeof value === 'string'
      ? `<c r="${name}" t="inlineStr"><is><t>${value}</t></is></c>`
      : `<c r="${name}" s="${format}"><v>${value}</v></c>`;
  const rows = [
    row(cell('A1', 'Ferries of Vik')),
    row(cell('A2', 'as of spring'), cell('C2', 'not'), cell('D2', 'final'), cell('E2', 'yet')),
    row(
      cell('A3', 'Ferry'),
      cell('B3', 'Launched'),
      cell('C3', 'Sails'),
      cell('D3', 'Seats'),
      cell('E3', 'Checked'),
    ),
    row(
      cell('A4', 'Gullfoss'),
      cell('B4', 42339, 1),
      cell('C4', 0.5, 2),
      cell('D4', 42339),
      cell('E4', 42339.75, 1),
    ),
    row(cell('A5', 'Edda'), cell('B5', 59, 1), cell('C5', 0.25, 2), cell('D5', 80, 3), cell('E5', 61, 1)),
  ];
  const sheet = zipSync({
    'xl/workbook.xml': strToU8('<workbook><sheets><sheet name="Fleet"/></sheets></workbook>'),
    'xl/styles.xml': strToU8(
      '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-409]h:mm AM/PM"/><numFmt numFmtId="165" formatCode="0 &quot;seats, my dear&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>',
    ),
    'xl/worksheets/sheet1.xml': strToU8(`<worksheet><sheetData>${rows.join('')}</sheetData></worksheet>`),
  });
  assert.deepEqual(
    (await extract(spreadsheet, sheet)).blocks.map(({ text }) => text),
    [
      'Fleet',
      'Ferries of Vik',
      'as of spring; not; final; yet',
      'Ferry: Gullfoss; Launched: 2015-12-01; Sails: 12:00 PM; Seats: 42339; Checked: 2015-12-01 18:00:00',
      'Ferry: Edda; Launched: 1900-02-28; Sails: 6:00 AM; Seats: 80 seats, my dear; Checked: 1900-03-01',
    ],
  );
});

test('pages of a PDF without text are named in a warning', async () => {
  const { warnings } = await extract('application/pdf', pdfOf(['One', '', '']));
  assert.deepEqual(warnings, ['Pages 2, 3 have no text; scanned pages are not read.']);
});

test('the first row of a table in HTML names its columns without th if it looks like it', async () => {
  const table = (...rows: readonly (readonly string[])[]) =>
    `<table><thead><tr><th colspan="3">Pier</th></tr></thead><tbody>${rows.map((cells) => `<tr>${cells.map((cell) => `<td><p>${cell}</p></td>`).join('')}</tr>`).join('')}</tbody></table>`;
  const textsOf = async (html: string) =>
    (await extract('text/html', Buffer.from(html))).blocks.map(({ text }) => text);
  assert.deepEqual(
    await textsOf(table(['Variable', 'Default', 'Meaning'], ['berths', '48', 'Berths for guests.'])),
    ['Pier', 'Variable: berths; Default: 48; Meaning: Berths for guests.'],
  );
  assert.deepEqual(await textsOf(table(['Astrid', 'Dahl', 'Vik'], ['Ingrid', 'Holm', 'Bergen'])), [
    'Pier',
    'Astrid; Dahl; Vik',
    'Ingrid; Holm; Bergen',
  ]);
});

test('a table of a PDF is rows if its columns are aligned, and stays lines if it could be prose or a form', async () => {
  const [table] = testTables;
  const read = async (bytes: Uint8Array) =>
    (await extract('application/pdf', bytes)).blocks.map(({ text }) => text).join('\n');
  if (table)
    assert.match(
      await read(tableWriters.pdf?.(table) ?? new Uint8Array()),
      new RegExp(table.read.join('\n')),
    );
  const prose = 'the boats of the north lie\ndeep in the water and wait\nfor those who come late to'.split(
    '\n',
  );
  const form = ['Owner|Ada Holm', 'Boat|Gullfoss', 'Berth|North side'];
  const rowsOf = (left: readonly string[], right: readonly string[]) => ({
    headers: 0,
    rows: left.map((text, index) => [text, right[index] ?? '']),
  });
  const columns = await read(tableWriters.pdf?.(rowsOf(prose, prose)) ?? new Uint8Array());
  assert.doesNotMatch(columns, /: |;/);
  const [names, values] = [0, 1].map((part) => form.map((line) => line.split('|')[part] ?? ''));
  assert.doesNotMatch(
    await read(tableWriters.pdf?.(rowsOf(names ?? [], values ?? [])) ?? new Uint8Array()),
    /: |;/,
  );
});

test('values of a form in a PDF stand beside their labels, and hidden ones are left out', async () => {
  const content = 'BT /F1 12 Tf 72 700 Td (Name of the boat) Tj ET BT /F1 12 Tf 72 600 Td (Signed) Tj ET';
  const field = (value: string, y: number, flags = 4) =>
    `<</Type/Annot/Subtype/Widget/FT/Tx/F ${flags}/T(f${y})/V(${value})/Rect[200 ${y} 300 ${y + 14}]>>`;
  const pdf = pdfFrom([
    '<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[6 0 R 7 0 R 8 0 R]>>>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Annots[6 0 R 7 0 R 8 0 R]/Resources<</Font<</F1 5 0 R>>>>>>',
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    field('Gullfoss', 698),
    field('Ada Holm', 598),
    field('SECRET', 500, 2),
  ]);
  const { blocks } = await extract('application/pdf', pdf);
  assert.deepEqual(
    blocks.map(({ text }) => text),
    ['Name of the boat Gullfoss', 'Signed Ada Holm'],
  );
});

test('the first row of a table in HTML names columns of numbers, in the order of the page', async () => {
  const table = (...rows: readonly string[]) =>
    `<table>${rows.map((row) => `<tr>${row.replace(/[^|]+/g, '<td>$&</td>').replaceAll('|', '')}</tr>`).join('')}</table>`;
  const textsOf = async (html: string) =>
    (await extract('text/html', Buffer.from(html))).blocks.map(({ text }) => text);
  assert.deepEqual(await textsOf(`<p>A</p>${table('C|Si|Mn', '0.39 - 0.46|max 0.2|1.1')}<p>B</p>`), [
    'A',
    'C: 0.39 - 0.46; Si: max 0.2; Mn: 1.1',
    'B',
  ]);
  assert.deepEqual(await textsOf(`${table('Ada|Vik|cook', 'Bo|Bergen|mate')}<p>B</p>`), [
    'Ada; Vik; cook',
    'Bo; Bergen; mate',
    'B',
  ]);
  assert.deepEqual(await textsOf(`${table('Ada|Vik|cook')}${table('Boat|Fee|Crew', 'Gull|71|3')}`), [
    'Ada; Vik; cook',
    'Boat: Gull; Fee: 71; Crew: 3',
  ]);
  assert.deepEqual(await textsOf(table('-|Brinell<br>HB|Vickers', 'SNB|293|310')), [
    '-; Brinell HB; Vickers',
    'SNB; 293; 310',
  ]);
  assert.deepEqual(await textsOf(table('Name|Ada', 'Born|1815')), ['Name; Ada', 'Born; 1815']);
});
