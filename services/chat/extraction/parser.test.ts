import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '@octavo/core/log';
import { pdfFrom, pdfOf } from '@octavo/documents/testing';
import { decodePng } from '@octavo/testing';
import { Parser, type ParserOptions } from './parser.ts';
import type { ParsedChunk, ParsedText, ParseRequest } from './parsing.ts';

const request = (text: string, filename = 'notes.txt', mediaType = 'text/plain'): ParseRequest => ({
  bytes: Buffer.from(text),
  filename,
  mediaType,
  library: 1,
  dialect: 'sqlite',
});

async function read(parser: Parser, asked: ParseRequest, signal?: AbortSignal) {
  const chunks: ParsedChunk[] = [];
  let text = '';
  await parser.parse(
    asked,
    async (reply) => {
      if (reply.kind === 'text') text = reply.text;
      else chunks.push(...reply.chunks);
    },
    signal,
  );
  return { text, chunks };
}

const open = (options: Partial<ParserOptions> = {}) =>
  new Parser({ log: silentLog, processes: 1, ...options });

test('documents are read one after another by the same process', async () => {
  await using parser = open();
  const many = Array.from({ length: 600 }, (_, n) => `Paragraph ${n} ${'word '.repeat(150)}.`).join('\n\n');
  const [first, second] = await Promise.all([read(parser, request(many)), read(parser, request('Short.'))]);
  assert.deepEqual(
    first.chunks.map(({ place }) => place),
    Array.from({ length: 600 }, (_, n) => n),
  );
  assert.ok(first.chunks.every(({ start, end, text }) => first.text.slice(start, end) === text));
  assert.equal(second.text, 'Short.');
  await assert.rejects(read(parser, request('{', 'a.json', 'application/json')), { code: 'unprocessable' });
  assert.equal((await read(parser, request('Still there.'))).text, 'Still there.');
});

test('a process is killed with its request, and the next one works', async () => {
  await using parser = open();
  const controller = new AbortController();
  const reading = read(parser, request('word '.repeat(900_000)), controller.signal);
  controller.abort(new Error('the client went away'));
  await assert.rejects(reading, /the client went away/);
  assert.equal((await read(parser, request('Next.'))).text, 'Next.');
});

test('a document that takes too long is refused', async () => {
  await using parser = open({ parseMs: 0 });
  await assert.rejects(read(parser, request('word '.repeat(900_000))), {
    code: 'unprocessable',
    message: /could not be read within 0 seconds/,
  });
});

test('a document that takes too much memory is refused', async () => {
  await using parser = open({ heapMib: 24 });
  const nested = `[${'[],'.repeat(1_500_000)}[]]`;
  await assert.rejects(read(parser, request(nested, 'a.json', 'application/json')), {
    code: 'unprocessable',
    message: /too much memory/,
  });
  assert.equal((await read(parser, request('Next.'))).text, 'Next.');
});

test('a PDF that takes too much is read in another way, and says so', async () => {
  await using parser = open({ heapMib: 24 });
  // Each of the letters becomes an object for the library that is asked first.
  const range = 'begincmap 1 beginbfrange <000000> <fffffe> <0000> endbfrange endcmap';
  const content = 'BT /F1 12 Tf 72 720 Td (The quay closes at nine.) Tj ET';
  const bytes = pdfFrom([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>',
    `<</Length ${content.length}>>stream\n${content}\nendstream`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>',
    `<</Length ${range.length}>>stream\n${range}\nendstream`,
  ]);
  const replies: ParsedText[] = [];
  await parser.parse({ ...request('', 'quay.pdf', 'application/pdf'), bytes }, async (reply) => {
    if (reply.kind === 'text') replies.push(reply);
  });
  const [{ text, warnings } = { text: '', warnings: [] }, ...others] = replies;
  assert.equal(text, 'The quay closes at nine.');
  assert.match(warnings.join(' '), /took too much time or memory/);
  assert.equal(others.length, 0);
});

test('a page that takes too long to draw is refused, and the next one is drawn', async () => {
  const draw = (parser: Parser, bytes: Uint8Array, signal?: AbortSignal) =>
    parser.draw({ page: 1, passage: undefined }, async () => bytes, signal);
  await using slow = open({ drawMs: 0 });
  // More lines than any machine draws before it is first looked at.
  await assert.rejects(draw(slow, pdfOf(['Fog.\n'.repeat(200_000)])), {
    code: 'unprocessable',
    message: /could not be read within 0 seconds/,
  });
  await using parser = open();
  const controller = new AbortController();
  const leaving = draw(parser, pdfOf(['Fog.']), controller.signal);
  controller.abort(new Error('the client went away'));
  await assert.rejects(leaving, /the client went away/);
  await assert.rejects(draw(parser, Buffer.from('%PDF-1.4 nonsense')), { code: 'unprocessable' });
  assert.equal(decodePng(await draw(parser, pdfOf(['Fog.']))).width, 1_200);
});
