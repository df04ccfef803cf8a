import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { extract } from './extract.ts';

const office = 'application/vnd.openxmlformats-officedocument';
const shown = async (mediaType: string, content: Uint8Array) =>
  (await extract(mediaType, content)).blocks.map(({ text, page }) => (page ? `${page}: ${text}` : text));

test('cells that readers do not see are left out, and comments', async () => {
  const xf = (font: number, fill: number, format = 0) =>
    `<xf numFmtId="${format}" fontId="${font}" fillId="${fill}"/>`;
  const formats =
    '<styleSheet><numFmts><numFmt numFmtId="170" formatCode=";;;"/></numFmts><fonts><font><color theme="1"/></font><font><color rgb="FFFFFFFF"/></font></fonts>' +
    '<fills><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FF1F3864"/></patternFill></fill></fills>' +
    `<cellXfs>${xf(0, 0)}${xf(1, 0)}${xf(1, 1)}${xf(0, 0, 170)}</cellXfs></styleSheet>`;
  const cell = (name: string, format: number, text: string) =>
    `<c r="${name}" s="${format}" t="inlineStr"><is><t>${text}</t></is></c>`;
  const sheetOf = (last: string) =>
    zipSync({
      'xl/styles.xml': strToU8(formats),
      'xl/comments1.xml': strToU8('<comments><t>SECRET</t></comments>'),
      'xl/worksheets/sheet1.xml': strToU8(
        `<worksheet><row>${cell('A1', 2, 'City')}${cell('B1', 0, 'Fee')}</row><row>${cell('A2', 1, 'White')}${cell('B2', 0, '9')}</row><row>${cell('A3', 2, 'Rome')}${cell('B3', 3, 'None')}</row>${last}</worksheet>`,
      ),
    });
  const type = `${office}.spreadsheetml.sheet`;
  assert.deepEqual((await shown(type, sheetOf(''))).slice(1), ['Fee: 9', 'City: Rome']);
  const table = await shown(type, sheetOf('<tableParts><tablePart/></tableParts>'));
  assert.deepEqual(table.slice(1), ['City: White; Fee: 9', 'City: Rome; Fee: None']);
});

test('text of slides that readers do not see is left out, and comments', async () => {
  const fill = (color: string, more = '') =>
    `<a:solidFill><a:srgbClr val="${color}">${more}</a:srgbClr></a:solidFill>`;
  const run = (text: string, properties = '', attributes = '') =>
    `<a:r><a:rPr${attributes}>${properties}</a:rPr><a:t>${text}</a:t></a:r>`;
  const shape = (runs: string, properties = '', attributes = '') =>
    `<p:sp><p:nvSpPr><p:cNvPr id="1"${attributes}/></p:nvSpPr><p:spPr>${properties}</p:spPr><p:txBody><a:p>${runs}</a:p></p:txBody></p:sp>`;
  const slide = (content: string, attributes = '') =>
    strToU8(`<p:sld${attributes}><p:cSld>${content}</p:cSld></p:sld>`);
  const unseen = [
    run('SECRET', fill('ffffff')),
    run('SECRET', '', ' sz="100"'),
    run('SECRET', fill('FF0000', '<a:alpha val="0"/>')),
  ];
  const slides = zipSync({
    'ppt/slides/slide1.xml': slide(
      [
        `<p:bg><p:bgPr>${fill('FFFFFF')}</p:bgPr></p:bg>`,
        shape(`${run('One')}${unseen.join('')}`),
        shape(run('SECRET'), '', ' hidden="1"'),
        shape(`${run('two', fill('FFFFFF'))}${run('SECRET', fill('1F3864'))}`, fill('1F3864')),
      ].join(''),
    ),
    'ppt/slides/slide2.xml': slide(shape(run('SECRET')), ' show="0"'),
    'ppt/slides/slide3.xml': slide(shape(run('Three', fill('FFFFFF')))),
    'ppt/comments/comment1.xml': strToU8('<p:cm><p:text>SECRET</p:text></p:cm>'),
  });
  assert.deepEqual(await shown(`${office}.presentationml.presentation`, slides), [
    '1: One',
    '1: two',
    '3: Three',
  ]);
});

test('text of OpenDocument that readers do not see is left out, and comments', async () => {
  const style = (name: string, properties: string, base = '') =>
    `<style:style style:name="${name}"${base}>${properties}</style:style>`;
  const textStyle = (name: string, attributes: string) =>
    style(name, `<style:text-properties ${attributes}/>`);
  const span = (name: string, text: string) => `<text:span text:style-name="${name}">${text}</text:span>`;
  const styles = [
    textStyle('White', 'fo:color="#FFFFFF"'),
    textStyle('Tiny', 'fo:font-size="1pt"'),
    style('Child', '', ' style:parent-style-name="Gone"'),
    style('Dark', '<style:paragraph-properties fo:background-color="#000000"/>'),
  ];
  const unseen = ['White', 'Tiny', 'Child'].map((name) => span(name, 'SECRET'));
  const open = zipSync({
    'styles.xml': strToU8(`<office:styles>${textStyle('Gone', 'text:display="none"')}</office:styles>`),
    'content.xml': strToU8(
      [
        '<document>',
        `<office:automatic-styles>${styles.join('')}</office:automatic-styles>`,
        '<text:tracked-changes><text:p>SECRET</text:p></text:tracked-changes>',
        `<text:p>One<office:annotation><text:p>SECRET</text:p></office:annotation> two${unseen.join('')}.</text:p>`,
        `<text:p text:style-name="Dark">${span('White', 'Three')}</text:p>`,
        '<text:section text:display="none"><text:p>SECRET</text:p></text:section><text:p>Four</text:p>',
        '</document>',
      ].join(''),
    ),
  });
  const type = 'application/vnd.oasis.opendocument.text';
  assert.deepEqual(await shown(type, open), ['One two.', 'Three', 'Four']);
});

test('the page of a mail loses what readers do not see', async () => {
  const mail =
    'From: a@x.test\r\nSubject: Lunch\r\nContent-Type: text/html\r\n\r\n<p>At noon.</p><p style="color:#fff">SECRET</p><!-- SECRET -->\r\n';
  assert.deepEqual((await shown('message/rfc822', Buffer.from(mail))).slice(2), ['At noon.']);
});

test('text of a PDF that is too small to see is left out', async () => {
  const pdf = pdfOf(
    'BT /F1 12 Tf 72 700 Td (Opening hours are long.) Tj ET BT /F1 1 Tf 72 600 Td (SECRET) Tj ET',
  );
  assert.deepEqual(await shown('application/pdf', pdf), ['1: Opening hours are long.']);
});

/** A page with this content. */
function pdfOf(content: string): Uint8Array {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>',
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ];
  const body = objects.map((each, index) => `${index + 1} 0 obj${each}endobj\n`).join('');
  return Buffer.from(`%PDF-1.4\n${body}trailer<</Root 1 0 R/Size 6>>\n%%EOF`);
}
