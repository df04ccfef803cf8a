import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extract } from './extract.ts';
import { loadPdfium } from './pdfium.ts';
import { pdfFrom, pdfOf } from './testing-pdf.ts';

const textsOf = async (bytes: Uint8Array) =>
  (await extract('application/pdf', bytes)).blocks.map(({ text }) => text);

test('white text in a form that a page draws is left out, wherever the form is put', async () => {
  const draw = 'q 1 0 0 1 72 600 cm /Fm1 Do Q q 0 1 -1 0 400 300 cm /Fm1 Do Q';
  const page = `BT /F1 12 Tf 72 700 Td (Seen on the page) Tj ET ${draw}`;
  const form =
    'BT /F1 12 Tf 0 40 Td (Seen in the form) Tj ET 1 g BT /F1 12 Tf 0 0 Td (Hidden in the form) Tj ET ' +
    '0 g 0 -60 200 40 re f 1 g BT /F1 12 Tf 0 -50 Td (White on black) Tj ET';
  const fonts = '/Font<</F1 3 0 R>>';
  const bytes = pdfFrom([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[4 0 R]/Count 1>>',
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<<${fonts}/XObject<</Fm1 6 0 R>>>>/Contents 5 0 R>>`,
    `<</Length ${page.length}>>stream\n${page}\nendstream`,
    `<</Type/XObject/Subtype/Form/BBox[-100 -100 500 100]/Resources<<${fonts}>>/Length ${form.length}>>stream\n${form}\nendstream`,
  ]);
  const text = (await textsOf(bytes)).join(' ');
  for (const seen of ['Seen on the page', 'Seen in the form', 'White on black'])
    assert.match(text, new RegExp(seen));
  assert.doesNotMatch(text, /Hidden/);
});

test('a document is read with a warning where PDFium crashes on it, and the next one without', async (t) => {
  const pdfium = await loadPdfium();
  t.mock.method(pdfium, 'FPDF_LoadPage', () => {
    throw new Error('unreachable');
  });
  const crashed = await extract('application/pdf', pdfOf(['The harbor opens at nine.']));
  assert.deepEqual(
    crashed.blocks.map(({ text }) => text),
    ['The harbor opens at nine.'],
  );
  assert.match(String(crashed.warnings), /color of its ground/);
  const next = await extract('application/pdf', pdfOf(['The canteen opens at ten.']));
  assert.deepEqual(next.warnings, []);
});
