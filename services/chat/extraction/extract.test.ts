import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { chunkBlocks, chunkLengthMax } from './chunking.ts';
import { extract } from './extract.ts';
import { limits } from './limits.ts';

const office = 'application/vnd.openxmlformats-officedocument';
const read = async (mediaType: string, content: string | Uint8Array) =>
  extract(mediaType, typeof content === 'string' ? Buffer.from(content) : content);
const shown = async (mediaType: string, content: string | Uint8Array) =>
  (await read(mediaType, content)).blocks.map(({ text, level }) =>
    level ? `${'#'.repeat(level)} ${text}` : text,
  );

test('Markdown loses its signs and keeps its structure', async () => {
  const text =
    '# Guide\n\nUse **bold** and [links](https://x.test).\n\n- one\n- two\n  - deep\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n';
  assert.deepEqual(await shown('text/markdown', text), [
    '# Guide',
    'Use bold and links.',
    '- one\n- two\n  - deep',
    'a: 1; b: 2',
    'code',
  ]);
});

test('a page keeps what readers see', async () => {
  const page =
    '<html><head><title>T</title><script>x()</script></head><body><nav>Menu</nav><h2>Pay</h2><p>On the <b>25th</b>.</p><ul><li>One</li></ul><table><tr><td>a</td><td>b</td></tr></table></body></html>';
  assert.deepEqual(await shown('text/html', page), ['## Pay', 'On the 25th.', '- One', 'a; b']);
  assert.equal((await read('text/html', page)).title, 'T');
});

test('rows and objects have the names of their values', async () => {
  assert.deepEqual(await shown('text/csv', 'name;days\n"Ada; L.";27\n'), ['name: Ada; L.; days: 27']);
  assert.deepEqual(await shown('text/tab-separated-values', 'a\tb\n1\t2\n'), ['a: 1; b: 2']);
  assert.deepEqual(await shown('application/json', '[{"a":1,"b":{"c":2}}]'), ['a: 1', 'b: c: 2']);
  assert.deepEqual(await shown('application/jsonl', '{"a":1}\n{"a":2}\n'), ['a: 1', 'a: 2']);
  assert.deepEqual(await shown('application/xml', '<r><a>x &amp; y</a><b/></r>'), ['x & y']);
  await assert.rejects(read('application/json', '{'), { code: 'unprocessable' });
});

test('plain text has paragraphs, and headings where a short line stands alone', async () => {
  const text = 'Opening hours\n\nWe open at nine.\nWe close at five.\n\nShort, but a sentence.\n';
  assert.deepEqual(await shown('text/plain', text), [
    '## Opening hours',
    'We open at nine.\nWe close at five.',
    'Short, but a sentence.',
  ]);
  assert.deepEqual(await shown('text/plain', Buffer.from([0x63, 0x61, 0x66, 0xe9])), ['café']);
});

test('spreadsheets, slides and OpenDocument texts are read from their archives', async () => {
  const sheet = zipSync({
    'xl/workbook.xml': strToU8('<workbook><sheets><sheet name="Rates"/></sheets></workbook>'),
    'xl/sharedStrings.xml': strToU8('<sst><si><t>City</t></si><si><t>Oslo</t></si><si><t>Fee</t></si></sst>'),
    'xl/worksheets/sheet1.xml': strToU8(
      '<worksheet><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>2</v></c></row><row><c r="A2" t="s"><v>1</v></c><c r="C2"><v>9.5</v></c></row></sheetData></worksheet>',
    ),
  });
  assert.deepEqual(await shown(`${office}.spreadsheetml.sheet`, sheet), ['# Rates', 'City: Oslo; Fee: 9.5']);
  const slides = zipSync({
    'ppt/slides/slide1.xml': strToU8(
      '<p><a:p><a:r><a:t>Plan</a:t></a:r></a:p><a:p><a:t>Grow </a:t><a:t>slowly</a:t></a:p></p>',
    ),
  });
  assert.deepEqual(await shown(`${office}.presentationml.presentation`, slides), ['# Plan', 'Grow slowly']);
  const open = zipSync({
    'content.xml': strToU8(
      '<o><text:h text:outline-level="2">Head</text:h><text:p>One<text:s/>two</text:p></o>',
    ),
  });
  assert.deepEqual(await shown('application/vnd.oasis.opendocument.text', open), ['## Head', 'One two']);
});

test('a Word document is read', async () => {
  const body =
    '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Rules</w:t></w:r></w:p><w:p><w:r><w:t>Be kind.</w:t></w:r></w:p>';
  const word = zipSync({
    '[Content_Types].xml': strToU8(
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
    ),
    '_rels/.rels': strToU8(
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>',
    ),
    'word/document.xml': strToU8(
      `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
    ),
  });
  const blocks = await shown(`${office}.wordprocessingml.document`, word);
  assert.match(blocks.join('\n'), /Rules[\s\S]*Be kind\./);
});

test('a mail has its head and its text, and names its attachments', async () => {
  const mail =
    'From: Ada <ada@x.test>\r\nTo: bob@x.test\r\nSubject: Lunch\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nAt noon.\r\n--b\r\nContent-Type: application/octet-stream; name=a.bin\r\nContent-Disposition: attachment; filename=a.bin\r\n\r\nx\r\n--b--\r\n';
  const { blocks, warnings } = await read('message/rfc822', mail);
  assert.equal(blocks[0]?.text, 'Lunch');
  assert.match(blocks[1]?.text ?? '', /^From: Ada <ada@x\.test>\nTo: <?bob@x\.test/);
  assert.equal(blocks[2]?.text, 'At noon.');
  assert.deepEqual(warnings, ['Attachments were not read: a.bin']);
});

test('a PDF is read page by page', async () => {
  const { blocks, pages } = await read('application/pdf', pdfOf(['Harbor rules', 'Boats wait outside.']));
  assert.equal(pages, 2);
  assert.deepEqual(
    blocks.map(({ text, page }) => [text, page]),
    [
      ['Harbor rules', 1],
      ['Boats wait outside.', 2],
    ],
  );
  await assert.rejects(read('application/pdf', '%PDF-1.4 nonsense'), { code: 'unprocessable' });
});

test('archives that would become too large are refused before they are inflated', async () => {
  const bomb = zipSync({ 'xl/worksheets/sheet1.xml': new Uint8Array(5_000_000) });
  await assert.rejects(read(`${office}.spreadsheetml.sheet`, bomb), /too large/);
  const many = zipSync(
    Object.fromEntries(Array.from({ length: 2_001 }, (_, n) => [`f${n}`, new Uint8Array(1)])),
  );
  await assert.rejects(read(`${office}.wordprocessingml.document`, many), /more than 2000 members/);
  await assert.rejects(read('application/vnd.oasis.opendocument.text', 'PK\x03\x04 broken'), /damaged/);
});

test('chunks follow headings and sentences, do not overlap, and are parts of the text', () => {
  const sentence = 'The keeper of the lighthouse writes down every ship that passes the point at night. ';
  const blocks = [
    { text: 'Log', level: 1 },
    { text: sentence.repeat(40) },
    { text: 'Empty', level: 2 },
    { text: 'x'.repeat(2_500) },
    { text: 'Last', level: 2 },
    { text: 'Short.' },
    { text: 'Also short.' },
  ];
  const { text, chunks, title } = chunkBlocks(blocks);
  assert.equal(title, 'Log');
  let end = 0;
  for (const chunk of chunks) {
    assert.ok(chunk.start >= end && chunk.end - chunk.start <= chunkLengthMax);
    end = chunk.end;
  }
  const parts = chunks.map((chunk) => text.slice(chunk.start, chunk.end));
  assert.ok(parts.filter((part) => part.includes('keeper')).every((part) => /^The.*night\.$/s.test(part)));
  assert.deepEqual([parts.at(-1), chunks.at(-1)?.section], ['Short.\n\nAlso short.', 'Log > Last']);
  assert.deepEqual(chunkBlocks([{ text: 'Only', level: 1 }]).chunks.length, 1);
  assert.ok(limits.chunksMax > 0);
});

/** A PDF with a line on each page. */
function pdfOf(pages: readonly string[]): Uint8Array {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${pages.map((_, index) => `${4 + index * 2} 0 R`).join(' ')}]/Count ${pages.length}>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
  ];
  for (const [index, line] of pages.entries()) {
    const content = `BT /F1 12 Tf 72 720 Td (${line}) Tj ET`;
    objects.push(
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>/Contents ${5 + index * 2} 0 R>>`,
      `<</Length ${content.length}>>stream\n${content}\nendstream`,
    );
  }
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj${object}endobj\n`;
    return offset;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
  text += offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  return Buffer.from(
    `${text}trailer<</Size ${objects.length + 1}/Root 1 0 R>>startxref\n${start}\n%%EOF`,
    'latin1',
  );
}
