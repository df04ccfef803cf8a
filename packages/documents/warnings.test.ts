import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { extract } from './extract.ts';
import { mediaTypeOf } from './media-types.ts';
import { pdfFrom, pdfOf } from './testing-pdf.ts';
import { wordOf } from './testing-tables.ts';

async function read(name: string, content: string | Uint8Array) {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const { blocks, warnings } = await extract(mediaTypeOf(name, bytes), bytes);
  return { texts: blocks.map(({ text }) => text), warnings };
}

const zipOf = (parts: Readonly<Record<string, string>>) =>
  zipSync(Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, strToU8(part)])));

test('struck text is left out with a warning, unless nobody sees it', async () => {
  const open =
    '<o><style:style style:name="S"><style:text-properties style:text-line-through-style="solid"/></style:style>' +
    '<text:p>A berth costs <text:span text:style-name="S">80 EUR</text:span> 95 EUR.</text:p></o>';
  const files: [string, string | Uint8Array][] = [
    ['a.html', '<p>A berth costs <s>80 EUR</s> 95 EUR.'],
    ['b.html', '<p>A berth costs <i style="text-decoration: line-through">80 EUR</i> 95 EUR.'],
    ['a.md', 'A berth costs ~~80 EUR~~ 95 EUR.'],
    ['b.md', 'A berth costs <del>80 EUR</del> 95 EUR.'],
    ['a.rtf', '{\\rtf1 A berth costs {\\strike 80 EUR} 95 EUR.\\par}'],
    ['a.odt', zipOf({ 'content.xml': open })],
  ];
  for (const [name, content] of files) {
    const { texts, warnings } = await read(name, content);
    assert.deepEqual([texts.join().replace(/ +/g, ' '), name], ['A berth costs 95 EUR.', name]);
    assert.deepEqual(warnings, ['Struck text was left out.'], name);
  }
  const unseen = await read('a.html', '<p>A berth <s hidden>80 EUR</s><s> </s>');
  assert.deepEqual(unseen.warnings, []);
});

test('hidden and struck text of Word is told', async () => {
  const run = (properties: string, text: string) =>
    `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
  const { texts, warnings } = await read(
    'a.docx',
    wordOf(`<w:p>${run('', 'Open.')}${run('<w:vanish/>', 'Hidden.')}${run('<w:strike/>', 'Struck.')}</w:p>`),
  );
  assert.deepEqual(texts, ['Open.']);
  assert.deepEqual(warnings, ['Struck text was left out.', 'Hidden text was left out.']);
});

test('a chart is told whose values are not in the text', async () => {
  const slide = (text: string) => `<p:sld><p:sp><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sp></p:sld>`;
  const chart = (...values: number[]) =>
    `<c:chart><c:cat><c:v>2025</c:v></c:cat><c:val>${values.map((value) => `<c:v>${value}</c:v>`).join('')}</c:val></c:chart>`;
  const warningsOf = async (text: string, ...charts: string[]) => {
    const parts = charts.map((part, index): [string, string] => [`ppt/charts/chart${index + 1}.xml`, part]);
    const file = zipOf({ 'ppt/slides/slide1.xml': slide(text), ...Object.fromEntries(parts) });
    return (await read('a.pptx', file)).warnings;
  };
  assert.deepEqual(await warningsOf('It was 35 % and 1,204.5 t', chart(0.35, 1204.4999)), []);
  const one = 'A chart shows values that are not in the text.';
  assert.deepEqual(await warningsOf('It was 35 %', chart(0.35, 71)), [one]);
  assert.deepEqual(await warningsOf('None', chart(5), chart(6), chart()), [
    '2 charts show values that are not in the text.',
  ]);
});

test('lists of the form of a PDF show their options, and what is chosen', async () => {
  const page = 'BT /F1 12 Tf 72 700 Td (Berth) Tj ET';
  const list = (flags: number, place: string, value: string) =>
    `<</Type/Annot/Subtype/Widget/FT/Ch/Ff ${flags}/F 4/T(b${flags})/Rect[${place}]/Opt[[(n)(North)][(s)(South)][(e)(East)]]/V(${value})>>`;
  const { texts } = await read(
    'a.pdf',
    pdfFrom([
      '<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[6 0 R 7 0 R]>>>>',
      '<</Type/Pages/Kids[4 0 R]/Count 1>>',
      '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
      '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents 5 0 R/Annots[6 0 R 7 0 R]>>',
      `<</Length ${page.length}>>stream\n${page}\nendstream`,
      list(0, '72 500 200 540', 's'),
      list(131_072, '120 695 200 710', 'n'),
    ]),
  );
  assert.deepEqual(texts, ['Berth North', 'North, [x] South, East']);
});

test('the numbers of pages are no text, and other numbers are', async () => {
  const { texts } = await read(
    'a.pdf',
    pdfOf(['3\nThe quay.\n2024', 'Page 4 of 9\nThe pier.\n1', '7\nThe end.']),
  );
  assert.deepEqual(texts, ['The quay. 2024', 'The pier. 1', '7 The end.']);
});

test('what the head of a page says of it is text beside its title', async () => {
  const page = (head: string) => `<head><title>Fees</title>${head}</head><p>By length.`;
  const told = await read(
    'a.html',
    page('<meta name="Author" content="Nils Brandt"><meta name=description content="All fees.">'),
  );
  assert.deepEqual(told.texts, ['By length.', 'Title: Fees\nAuthor: Nils Brandt\nDescription: All fees.']);
  assert.deepEqual((await read('a.html', page(''))).texts, ['By length.']);
  // Browsers begin the body where text stands in the head.
  const early = page('<style>p {}</style>Closed.<script>x</script>');
  assert.deepEqual((await read('a.html', early)).texts, ['Closed.', 'By length.']);
});
