import assert from 'node:assert/strict';
import { test } from 'node:test';
import { extract, hasFallback } from './extract.ts';
import { pdfOf } from './testing-pdf.ts';
import { tableWriters, testTables } from './testing-tables.ts';

const pdf = 'application/pdf';
const shown = async (bytes: Uint8Array, usesFallback: boolean) =>
  (await extract(pdf, bytes.slice(), { usesFallback })).blocks.map(({ text, page }) => [page, text]);

test('the other way of reading a PDF finds the same paragraphs, pages and tables', async () => {
  const pages = pdfOf([
    'The quay closes\nat nine on Sundays.',
    '',
    'Berths cost 40 EUR a night by the list.',
  ]);
  const files = ['pdf', 'ruled.pdf'].flatMap((format) =>
    testTables.map((each) => tableWriters[format]?.(each)),
  );
  for (const bytes of [pages, ...files].filter((each) => each !== undefined))
    assert.deepEqual(await shown(bytes, true), await shown(bytes, false));
});

test('the other way of reading a PDF tells what is missing, and of pages without text', async () => {
  const { warnings, pages } = await extract(pdf, pdfOf(['Fog.', '']), { usesFallback: true });
  assert.equal(pages, 2);
  assert.match(warnings.join(' '), /too much time or memory.*Page 2 has no text/);
  await assert.rejects(extract(pdf, Buffer.from('%PDF-1.4 x'), { usesFallback: true }), {
    code: 'unprocessable',
  });
});

test('other types have no other way', async () => {
  assert.equal(hasFallback(pdf), true);
  assert.equal(hasFallback('text/html'), false);
  await assert.rejects(extract('text/html', Buffer.from('<p>x'), { usesFallback: true }));
});
