import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { extract } from './extract.ts';
import { listNumber } from './formats/marks/list-numbers.ts';
import { wordOf } from './testing-tables.ts';

async function textsOf(mediaType: string, content: string | Uint8Array): Promise<string[]> {
  const { blocks } = await extract(mediaType, typeof content === 'string' ? Buffer.from(content) : content);
  return blocks.map(({ text }) => text);
}

test('numbers are shown as letters and Roman numerals too', () => {
  assert.deepEqual(
    [1, 26, 27, 703].map((value) => listNumber(value, 'a')),
    ['a', 'z', 'aa', 'aaa'],
  );
  assert.deepEqual(
    [1, 4, 9, 1994, 5000].map((value) => listNumber(value, 'I')),
    ['I', 'IV', 'IX', 'MCMXCIV', '5000'],
  );
  assert.deepEqual(
    [-1, 0, 12].map((value) => listNumber(value, '1')),
    ['-1', '0', '12'],
  );
});

test('points of a web page have the numbers that it shows', async () => {
  const html = (list: string) => textsOf('text/html', list);
  assert.deepEqual(await html('<ol><li>Open.<li><p>Drain.</p><p>Wait.</p></li><li></li></ol><p>After.'), [
    '1. Open.',
    '2. Drain.',
    'Wait.',
    'After.',
  ]);
  assert.deepEqual(
    await html(
      '<ol type=i start=3><li>One<ol type=A><li>Inner</ol><li hidden>Gone<li>Two<li value=9>Nine</ol>',
    ),
    ['iii. One', 'A. Inner', 'iv. Two', 'ix. Nine'],
  );
  const unnumbered = '<style>.bare {list-style: none}</style><ol class=bare><li>Bare</ol><ul><li>Point</ul>';
  assert.deepEqual(await html(unnumbered), ['- Bare', '- Point']);
  assert.deepEqual(await html('<ol reversed><li>Three<li>Two</ol>'), ['- Three', '- Two']);
});

test('points of OpenDocument have the numbers of their styles', async () => {
  const level = (depth: number, more: string) =>
    `<text:list-level-style-number text:level="${depth}" style:num-suffix="." ${more}/>`;
  const styles = `<text:list-style style:name="L">${level(1, 'style:num-format="1"')}${level(2, 'style:num-format="a" text:display-levels="2"')}</text:list-style><text:list-style style:name="B"><text:list-level-style-bullet text:level="1"/></text:list-style>`;
  const item = (inner: string, more = '') => `<text:list-item ${more}>${inner}</text:list-item>`;
  const paragraph = (text: string) => `<text:p>${text}</text:p>`;
  const inner = `<text:list>${item(paragraph('Inner'))}</text:list>`;
  const body =
    `<text:list text:style-name="L" xml:id="x">${item(paragraph('Open.') + paragraph('Slowly.'))}${item(paragraph('Drain.') + inner)}</text:list>` +
    paragraph('Between.') +
    `<text:list text:style-name="L" text:continue-numbering="true">${item(paragraph('Close.'))}</text:list>` +
    `<text:list text:style-name="L">${item(paragraph('Anew.'))}${item(paragraph('Jump.'), 'text:start-value="7"')}</text:list>` +
    `<text:list text:style-name="B">${item(paragraph('Point.'))}</text:list>`;
  const file = zipSync({ 'content.xml': strToU8(`<o>${styles}<office:body>${body}</office:body></o>`) });
  assert.deepEqual(await textsOf('application/vnd.oasis.opendocument.text', file), [
    '1. Open.',
    'Slowly.',
    '2. Drain.',
    '2.a. Inner',
    'Between.',
    '3. Close.',
    '1. Anew.',
    '7. Jump.',
    'Point.',
  ]);
});

test('headings of OpenDocument have the numbers of the outline', async () => {
  const heading = (depth: number, text: string, more = '') =>
    `<text:h text:outline-level="${depth}" ${more}>${text}</text:h>`;
  const outline = `<text:outline-style style:name="Outline"><text:outline-level-style text:level="1" style:num-format="1"/><text:outline-level-style text:level="2" style:num-format="a" text:display-levels="2" style:num-suffix=")"/><text:outline-level-style text:level="3" style:num-format=""/></text:outline-style>`;
  const bare = '<style:style style:name="Bare" style:list-style-name=""/>';
  const body =
    heading(1, 'Rent') +
    heading(2, 'Deposit') +
    heading(2, 'Interest') +
    heading(3, 'Rates') +
    heading(1, 'Preface', 'text:style-name="Bare"') +
    heading(1, 'Annex', 'text:is-list-header="true"') +
    heading(1, 'End', 'text:restart-numbering="true" text:start-value="9"') +
    heading(2, 'Words');
  const file = zipSync({
    'styles.xml': strToU8(`<o>${outline}</o>`),
    'content.xml': strToU8(`<o>${bare}<office:body>${body}</office:body></o>`),
  });
  assert.deepEqual(await textsOf('application/vnd.oasis.opendocument.text', file), [
    '1 Rent',
    '1.a) Deposit',
    '1.b) Interest',
    'Rates',
    'Preface',
    'Annex',
    '9 End',
    '9.a) Words',
  ]);
});

/** A Word file whose lists have these levels (`w:lvl`) by their ids, and more of `numbering.xml`. */
function listsOf(body: string, levels: readonly string[], { nums = '', styles = '' } = {}): Uint8Array {
  const list = (inner: string, id: number) =>
    `<w:abstractNum w:abstractNumId="${id}">${inner}</w:abstractNum>`;
  const num = (_: string, id: number) => `<w:num w:numId="${id}"><w:abstractNumId w:val="${id}"/></w:num>`;
  const numbering = levels.map(list).join('') + levels.map(num).join('') + nums;
  return wordOf(body, { numbering, styles });
}

const level = (depth: number, text: string, { format = 'decimal', start = 1, more = '' } = {}) =>
  `<w:lvl w:ilvl="${depth}"><w:start w:val="${start}"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/></w:lvl>`;
const point = (num: number, depth: number, text: string) =>
  `<w:p><w:pPr><w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="${num}"/></w:numPr></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
const styled = (style: string, text: string) =>
  `<w:p><w:pPr><w:pStyle w:val="${style}"/></w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

test('points and headings of Word have the numbers of their levels', async () => {
  const headings =
    level(0, '%1', { more: '<w:pStyle w:val="Heading1"/>' }) +
    level(1, '%1.%2', { more: '<w:pStyle w:val="Heading2"/>' });
  const legal =
    level(1, 'Article %2', { format: 'upperRoman' }) +
    level(2, 'Section %2.%3', { format: 'decimalZero', more: '<w:isLgl/>' }) +
    level(3, '(%4)', { format: 'lowerLetter', start: 26 }) +
    level(4, '%5', { format: 'bullet' });
  const style = (id: string, base: string, depth: number) =>
    `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${id}"/><w:basedOn w:val="${base}"/><w:pPr><w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="1"/></w:numPr></w:pPr></w:style>`;
  const styles = style('Heading1', '', 0) + style('Heading2', '', 1) + style('Clause', 'Heading2', 1);
  const body =
    styled('Heading1', 'Rent') +
    styled('Heading1', 'Money') +
    styled('Heading2', 'Interest') +
    point(2, 1, 'Scope') +
    point(2, 2, 'Parties') +
    point(2, 3, 'Tenant') +
    point(2, 3, 'Landlord') +
    point(2, 4, 'Also others') +
    styled('Heading2', 'Deposit') +
    point(2, 2, 'Goods') +
    point(2, 3, 'Crane') +
    styled('Heading1', 'End');
  const bytes = listsOf(body, ['', headings, legal], { styles });
  const { blocks } = await extract(word, bytes);
  assert.deepEqual(
    blocks.map(({ text, level: depth }) => (depth ? `${'#'.repeat(depth)} ${text}` : text)),
    [
      '# 1 Rent',
      '# 2 Money',
      '## 2.1 Interest',
      'Article I Scope',
      'Section 1.01 Parties',
      '(z) Tenant',
      '(aa) Landlord',
      '- Also others',
      '## 2.2 Deposit',
      'Section 1.02 Goods',
      '(z) Crane',
      '# 3 End',
    ],
  );
});

test('lists of Word go on, start again and stand beside those of text boxes as Word counts them', async () => {
  const steps = level(0, '%1.') + level(1, '%1.%2.') + level(2, '%3)', { more: '<w:lvlRestart w:val="1"/>' });
  const again =
    '<w:num w:numId="7"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>';
  const other = '<w:num w:numId="8"><w:abstractNumId w:val="1"/></w:num>';
  const box = (inner: string) => `<w:txbxContent>${inner}</w:txbxContent>`;
  const boxed = `<w:p><w:r><mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice Requires="wps">${box(point(1, 0, 'Boxed'))}</mc:Choice><mc:Fallback><w:pict><v:textbox xmlns:v="urn:schemas-microsoft-com:vml">${box(point(1, 0, 'Boxed'))}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>`;
  const formerly = `<w:p><w:pPr><w:pPrChange><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr></w:pPrChange></w:pPr><w:r><w:t>Formerly a point</w:t></w:r></w:p>`;
  const deleted = `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr><w:rPr><w:del w:id="1"/></w:rPr></w:pPr><w:del><w:r><w:delText>Deleted</w:delText></w:r></w:del></w:p>`;
  const body =
    point(1, 1, 'Deep first') +
    point(1, 0, 'Then') +
    point(1, 2, 'Third') +
    point(1, 1, 'Second') +
    point(1, 2, 'Goes on') +
    boxed +
    formerly +
    deleted +
    point(8, 0, 'The same list') +
    point(7, 0, 'Anew') +
    point(7, 0, 'On') +
    point(0, 0, 'None');
  assert.deepEqual(await textsOf(word, listsOf(body, ['', steps], { nums: again + other })), [
    '1.1. Deep first',
    '2. Then',
    '1) Third',
    '2.1. Second',
    '2) Goes on',
    '1. Boxed',
    'Formerly a point',
    '3. The same list',
    '5. Anew',
    '6. On',
    'None',
  ]);
});

test('cells that a list of Word numbers have their numbers, and numbers that cannot be told are left out', async () => {
  const cell = (inner: string) => `<w:tc>${inner}</w:tc>`;
  const plain = (text: string) => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;
  const row = (...cells: string[]) => `<w:tr>${cells.map(cell).join('')}</w:tr>`;
  const table = `<w:tbl>${row(plain('No.'), plain('Boat'), plain('Berth'))}${row(point(1, 0, ''), plain('Gull'), plain('A'))}${row(point(1, 0, ''), plain('Tern'), plain('B'))}</w:tbl>`;
  const lists = [
    '',
    level(0, '%1.'),
    level(0, '%1', { format: 'japaneseCounting' }),
    level(0, '', { format: 'none' }),
    level(0, '%1', { more: '<w:rPr><w:vanish/></w:rPr>' }),
  ];
  const body = table + point(1, 0, '') + point(2, 0, 'Told') + point(3, 0, 'Bare') + point(4, 0, 'Hidden');
  assert.deepEqual(await textsOf(word, listsOf(body, lists)), [
    'No.: 1.; Boat: Gull; Berth: A',
    'No.: 2.; Boat: Tern; Berth: B',
    '- Told',
    'Bare',
    'Hidden',
  ]);
});
