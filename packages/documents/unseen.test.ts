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

/** A theme whose first accent is dark blue. */
const theme =
  '<a:theme><a:clrScheme><a:dk1><a:sysClr val="windowText" lastClr="000000"/></a:dk1><a:lt1><a:sysClr val="window" lastClr="FFFFFF"/></a:lt1>' +
  '<a:accent1><a:srgbClr val="1f3864"/></a:accent1></a:clrScheme></a:theme>';

test('cells in a color of the theme, or of the palette, that is that of their ground are left out', async () => {
  const fonts = [
    'theme="1"',
    'theme="0"',
    'theme="1" tint="1"',
    'indexed="9"',
    'theme="4"',
    'rgb="FF1F3864"',
  ];
  const fills = [
    '<patternFill patternType="none"/>',
    '<patternFill patternType="solid"><fgColor theme="4"/></patternFill>',
  ];
  const formats = [...fonts.keys()].flatMap((font) =>
    [0, 1].map((fill) => `<xf fontId="${font}" fillId="${fill}"/>`),
  );
  const rows = formats.map((_, index) => {
    const text = `${fonts[index >> 1]?.replaceAll('"', '')} on ${index & 1}`;
    return `<row><c r="A${index + 2}" s="${index}" t="inlineStr"><is><t>${text}</t></is></c></row>`;
  });
  const head = '<row><c r="A1" s="0" t="inlineStr"><is><t>Color</t></is></c></row>';
  const sheet = zipSync({
    'xl/theme/theme1.xml': strToU8(theme),
    'xl/styles.xml': strToU8(
      `<styleSheet><fonts>${fonts.map((font) => `<font><color ${font}/></font>`).join('')}</fonts><fills>${fills.map((fill) => `<fill>${fill}</fill>`).join('')}</fills><cellXfs>${formats.join('')}</cellXfs></styleSheet>`,
    ),
    'xl/worksheets/sheet1.xml': strToU8(`<worksheet>${head}${rows.join('')}</worksheet>`),
  });
  const [, ...seen] = await shown(`${office}.spreadsheetml.sheet`, sheet);
  assert.deepEqual(
    seen.map((each) => each.replace('Color: ', '')),
    [
      'theme=1 on 0',
      'theme=1 on 1',
      'theme=0 on 1',
      'theme=1 tint=1 on 1',
      'indexed=9 on 1',
      'theme=4 on 0',
      'rgb=FF1F3864 on 0',
    ],
  );
});

test('text of slides in a color of the theme that is that of its shape or slide is left out', async () => {
  const fill = (color: string) => `<a:solidFill>${color}</a:solidFill>`;
  const named = (name: string, more = '') => fill(`<a:schemeClr val="${name}">${more}</a:schemeClr>`);
  const run = (text: string, color: string) => `<a:r><a:rPr>${color}</a:rPr><a:t>${text}</a:t></a:r>`;
  const lighter = '<a:lumMod val="50000"/><a:lumOff val="50000"/>';
  const ground = `<p:bg><p:bgPr>${named('bg1')}</p:bgPr></p:bg>`;
  const shape = (color: string, ...runs: string[]) =>
    `<p:sp><p:spPr>${color}</p:spPr><p:txBody><a:p>${runs.join('')}</a:p></p:txBody></p:sp>`;
  const slide = [
    shape(
      '',
      run('black ', named('tx1')),
      run('SECRET', named('bg1')),
      run('SECRET', fill('<a:srgbClr val="FFFFFF"/>')),
    ),
    shape(named('accent1'), run('white ', named('bg1')), run('SECRET', fill('<a:srgbClr val="1F3864"/>'))),
    shape(
      named('tx1', lighter),
      run('black ', named('tx1')),
      run('SECRET', fill('<a:srgbClr val="808080"/>')),
    ),
  ];
  const members = {
    'ppt/theme/theme1.xml': strToU8(theme),
    'ppt/slideMasters/slideMaster1.xml': strToU8(
      '<p:sldMaster><p:clrMap bg1="lt1" tx1="dk1" accent1="accent1"/></p:sldMaster>',
    ),
    'ppt/slides/slide1.xml': strToU8(`<p:sld><p:cSld>${ground}${slide.join('')}</p:cSld></p:sld>`),
  };
  const type = `${office}.presentationml.presentation`;
  assert.deepEqual(await shown(type, zipSync(members)), ['1: black ', '1: white ', '1: black ']);
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

test('text of a PDF in the color of its ground is left out, on paper and on a bar', async () => {
  const line = (y: number, text: string) => `BT /F1 12 Tf 72 ${y} Td (${text}) Tj ET`;
  const pdf = pdfOf(
    [
      line(700, 'Opening hours are long.'),
      `1 1 1 rg ${line(650, 'SECRET of the paper')}`,
      `0.1 0.2 0.5 rg 60 590 400 30 re f 1 1 1 rg ${line(600, 'The bar is easy to read.')}`,
      `0.95 0.97 1 rg 60 540 400 30 re f ${line(550, 'SECRET of the bar')}`,
    ].join(' '),
  );
  assert.deepEqual(await shown('application/pdf', pdf), [
    '1: Opening hours are long.',
    '1: The bar is easy to read.',
  ]);
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
