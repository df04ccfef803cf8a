import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { extract } from './extract.ts';
import { mediaTypeOf } from './media-types.ts';
import { wordOf } from './testing-tables.ts';

async function textsOf(name: string, parts: Readonly<Record<string, string>>): Promise<string[]> {
  const bytes = zipSync(
    Object.fromEntries(Object.entries(parts).map(([part, content]) => [part, strToU8(content)])),
  );
  return (await extract(mediaTypeOf(name, bytes), bytes)).blocks.map(({ text }) => text);
}

test('the notes of OpenDocument follow their sentence, and text boxes their paragraph', async () => {
  const note = (text: string) =>
    `<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>${text}</text:p></text:note-body></text:note>`;
  const box = '<draw:frame><draw:text-box><text:p>Boxed.</text:p></draw:text-box></draw:frame>';
  const content = `<office:body><text:p>The hoist lifts 730 kg${note('Measured in 2024.')} at most. Ask${box} first.</text:p></office:body>`;
  assert.deepEqual(await textsOf('a.odt', { 'content.xml': content }), [
    'The hoist lifts 730 kg at most. [Measured in 2024.] Ask first.',
    'Boxed.',
  ]);
});

test('slides come in the order of the presentation, with their own notes, and breaks divide words', async () => {
  const slide = (...texts: string[]) =>
    `<p:sld><p:sp><p:txBody>${texts.map((text) => `<a:p>${text}</a:p>`).join('')}</p:txBody></p:sp></p:sld>`;
  const run = (text: string, properties = '') => `<a:r><a:rPr ${properties}/><a:t>${text}</a:t></a:r>`;
  const relation = (id: string, type: string, target: string) =>
    `<Relationships><Relationship Id="${id}" Type="x/${type}" Target="${target}"/></Relationships>`;
  const relations = `<Relationships><Relationship Id="a" Type="x/slide" Target="slides/slide1.xml"/><Relationship Id="b" Type="x/slide" Target="/ppt/slides/slide2.xml"/></Relationships>`;
  const parts = {
    'ppt/presentation.xml':
      '<p:presentation><p:sldIdLst><p:sldId r:id="b"/><p:sldId r:id="a"/></p:sldIdLst></p:presentation>',
    'ppt/_rels/presentation.xml.rels': relations,
    'ppt/slides/slide1.xml': slide(run('Second')),
    'ppt/slides/slide2.xml': slide(
      `${run('First')}<a:br/>${run('line')}`,
      `${run('30')}${run('2', 'baseline="30000"')}${run(' kg')}${run('old', 'strike="sngStrike"')}`,
    ),
    'ppt/slides/_rels/slide2.xml.rels': relation('n', 'notesSlide', '../notesSlides/notesSlide7.xml'),
    'ppt/notesSlides/notesSlide7.xml': slide(run('Say hello.')),
  };
  assert.deepEqual(await textsOf('a.pptx', parts), ['First\nline', '30[2] kg', 'Say hello.', 'Second']);
});

test('cells of a spreadsheet are read whatever program wrote them, as the sheet shows them', async () => {
  const styles =
    '<x:styleSheet><x:numFmts><x:numFmt numFmtId="164" formatCode="[$€-407]\\ #,##0.00"/><x:numFmt numFmtId="165" formatCode="d\\ mmm\\ yyyy"/></x:numFmts><x:cellXfs><x:xf/><x:xf numFmtId="9"/><x:xf numFmtId="164"/><x:xf numFmtId="165"/></x:cellXfs></x:styleSheet>';
  const text = (value: string) => `<x:c t="inlineStr"><x:is><x:t>${value}</x:t></x:is></x:c>`;
  const number = (value: number, style = 0) => `<x:c s="${style}"><x:v>${value}</x:v></x:c>`;
  const rows = [
    ['Tea', 'Share', 'Price', 'Since', 'Left'].map(text),
    [text('Green'), number(0.35, 1), number(1204.5, 2), number(46267, 3), number(2.2999999999999998)],
  ];
  const parts = {
    'xl/workbook.xml': '<x:workbook><x:sheets><x:sheet name="Teas" r:id="a"/></x:sheets></x:workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="a" Target="worksheets/sheet1.xml"/></Relationships>',
    'xl/styles.xml': styles,
    'xl/worksheets/sheet1.xml': `<x:worksheet><x:sheetData>${rows.map((row) => `<x:row>${row.join('')}</x:row>`).join('')}</x:sheetData></x:worksheet>`,
  };
  assert.deepEqual(await textsOf('a.xlsx', parts), [
    'Teas',
    'Tea: Green; Share: 35%; Price: € 1,204.50; Since: 2 Sep 2026; Left: 2.3',
  ]);
});

test('fields, ruby, equations, notes, and headers of Word are text', async () => {
  const run = (text: string, properties = '') =>
    `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
  const body = [
    `<w:p>${run('The lease ends on ')}<w:fldSimple w:instr=" IF a > b ">${run('31 March 2028')}</w:fldSimple>${run('.')}<w:r><w:footnoteReference w:id="1"/></w:r>${run(' Then it is over.')}</w:p>`,
    `<w:p><w:r><w:ruby><w:rubyPr/><w:rt>${run('そうこ')}</w:rt><w:rubyBase>${run('倉庫')}</w:rubyBase></w:ruby></w:r></w:p>`,
    `<w:p><m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>${run(' is 30')}${run('2', '<w:vertAlign w:val="superscript"/>')}${run(' or 40', '<w:dstrike/>')}</w:p>`,
  ];
  const parts = {
    footnotes: `<w:footnote w:id="1"><w:p>${run('Signed in 2024.')}</w:p></w:footnote>`,
    header1: `<w:p>${run('Harbor of Vik')}</w:p>`,
    header2: `<w:p>${run('Harbor of Vik')}</w:p><w:p>${run('12')}</w:p>`,
  };
  const bytes = wordOf(body.join(''), parts);
  const { blocks } = await extract(mediaTypeOf('a.docx', bytes), bytes);
  assert.deepEqual(
    blocks.map(({ text }) => text),
    [
      'The lease ends on 31 March 2028. [Signed in 2024.] Then it is over.',
      '倉庫',
      'x^2 is 30[2]',
      'Harbor of Vik',
    ],
  );
});

test('the properties of a document are text', async () => {
  const core =
    '<cp:coreProperties><dc:title>Dredging plan</dc:title><dc:creator>Nils Brandt</dc:creator><cp:keywords>quay, sand</cp:keywords><dcterms:created>2026-09-02T10:00:00Z</dcterms:created></cp:coreProperties>';
  const told = 'Title: Dredging plan\nAuthor: Nils Brandt\nKeywords: quay, sand\nCreated: 2026-09-02';
  const parts = {
    'docProps/core.xml': core,
    'ppt/slides/slide1.xml': '<p><a:p><a:r><a:t>Plan</a:t></a:r></a:p></p>',
  };
  assert.deepEqual(await textsOf('a.pptx', parts), ['Plan', told]);
  const meta =
    '<office:meta><dc:title>Dredging plan</dc:title><meta:initial-creator>Nils Brandt</meta:initial-creator><meta:keyword>quay</meta:keyword><meta:keyword>sand</meta:keyword><meta:creation-date>2026-09-02T10:00:00</meta:creation-date></office:meta>';
  assert.deepEqual(
    await textsOf('a.odt', { 'meta.xml': meta, 'content.xml': '<o><text:p>Plan</text:p></o>' }),
    ['Plan', told],
  );
});

test('a cell of OpenDocument reaches down only as far as rows have places for it', async () => {
  const row = (...cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`;
  const cell = (text: string, spans = '') =>
    `<table:table-cell ${spans}><text:p>${text}</text:p></table:table-cell>`;
  const header = row(
    cell('Boat', 'table:number-rows-spanned="2"'),
    cell('Price', 'table:number-columns-spanned="2"'),
  );
  const read = (...rows: string[]) =>
    textsOf('a.odt', {
      'content.xml': `<office:body><table:table><table:table-header-rows>${header}</table:table-header-rows>${rows.join('')}</table:table></office:body>`,
    });
  assert.deepEqual(await read(row(cell('Gull'), cell('71'), cell('52'))), [
    'Boat: Gull; Price: 71; Price: 52',
  ]);
  const names = row('<table:covered-table-cell/>', cell('summer'), cell('winter'));
  assert.deepEqual(await read(names, row(cell('Gull'), cell('71'), cell('52'))), [
    'Boat: Gull; Price / summer: 71; Price / winter: 52',
  ]);
});
