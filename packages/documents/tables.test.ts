import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { extract } from './extract.ts';
import { pdfOf } from './testing-pdf.ts';

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
      'Ferry: Gullfoss; Launched: 2015-12-01; Sails: 12:00:00; Seats: 42339; Checked: 2015-12-01 18:00:00',
      'Ferry: Edda; Launched: 1900-02-28; Sails: 06:00:00; Seats: 80; Checked: 1900-03-01',
    ],
  );
});

test('pages of a PDF without text are counted in a warning', async () => {
  const { warnings } = await extract('application/pdf', pdfOf(['One', '', '']));
  assert.deepEqual(warnings, ['2 of 3 pages have no text; scanned pages are not read.']);
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
