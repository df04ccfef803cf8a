import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processorMs } from '@octavo/testing';
import { extract } from './extract.ts';

async function textOf(mediaType: string, content: string | Uint8Array): Promise<string> {
  const { blocks } = await extract(mediaType, Buffer.from(content));
  return blocks.map(({ text }) => text).join('\n');
}

test('raised and lowered characters stay apart from numbers, in HTML and in Markdown', async () => {
  const cases = [
    ['30<sup>2</sup> kg', '30[2] kg'],
    ['10<sup>6</sup> litres', '10^6 litres'],
    ['10<sup>-3</sup> m', '10^-3 m'],
    ['12 m<sup>2</sup>', '12 m²'],
    ['the 2<sup>nd</sup> pier', 'the 2nd pier'],
    ['H<sub>2</sub>O', 'H2O'],
    ['x<sup>2</sup>', 'x^2'],
    ['30 t<sup>2</sup>', '30 t[2]'],
    ['In calm weather.<sup>3</sup>', 'In calm weather.[3]'],
    ['noted<sup>[4]</sup>', 'noted[4]'],
    ['7<sup>b</sup> boats', '7[b] boats'],
  ] as const;
  for (const [given, expected] of cases) {
    assert.equal(await textOf('text/html', `<p>${given}</p>`), expected);
    assert.equal(await textOf('text/markdown', given), expected);
  }
});

test('struck text is left out, inserted text is kept, and ruby has its base', async () => {
  const html =
    '<p>A berth costs <s>80 EUR</s> <ins>95 EUR</ins>. <span style="text-decoration: line-through">70</span></p><p><ruby>倉庫<rp>(</rp><rt>そうこ</rt><rp>)</rp></ruby></p>';
  assert.equal(await textOf('text/html', html), 'A berth costs 95 EUR.\n倉庫');
  assert.equal(await textOf('text/markdown', 'It costs ~~80~~ <del>90</del> 95 EUR.'), 'It costs   95 EUR.');
});

test('ligatures and presentation forms are letters, soft hyphens are nothing, NUL never stays', async () => {
  assert.equal(
    await textOf('text/plain', 'The o\uFB03ce, a ha\u00ADrbor, \uFEB3\uFEFC\uFEE1'),
    'The office, a harbor, سلام',
  );
  assert.equal(await textOf('application/json', '{"a\\u0000":"b\\u0000c"}'), 'a\uFFFD: b\uFFFDc');
});

test('numbers of JSON are as they are written', async () => {
  const json = '{"a":9007199254740993,"b":1.10,"c":1E400,"d":[-0.0,12345678901234567890]}';
  assert.equal(
    await textOf('application/json', json),
    'a: 9007199254740993; b: 1.10; c: 1E400\nd: -0.0, 12345678901234567890',
  );
});

test('letters are those that a file declares, and a guess is a warning', async () => {
  const cyrillic = Buffer.from([0xca, 0xeb, 0xfe, 0xf7]);
  const declared = Buffer.concat([Buffer.from('<meta charset="windows-1251"><p>'), cyrillic]);
  assert.equal(await textOf('text/html', declared), 'Ключ');
  const cut = await extract(
    'text/plain',
    Buffer.concat([Buffer.from('Zoë Müller at 7 '), Uint8Array.of(0xc3)]),
  );
  assert.deepEqual(cut.blocks, [{ text: 'Zoë Müller at 7 \uFFFD' }]);
  assert.equal(cut.warnings.length, 1);
  const utf16 = Buffer.from('\uFEFFFrom: a@x.test\r\nSubject: Lunch\r\n\r\nAt noon.\r\n', 'utf16le');
  assert.match(await textOf('message/rfc822', utf16), /^Lunch\n.*\nAt noon\.$/s);
});

test('front matter is text, and a table in Markdown may be HTML', async () => {
  const text =
    '---\ntitle: Dredging plan\nauthor: Nils Brandt\ntags: [quay, sand]\nversion: 1.10\n---\n\n# Plan\n\nNow.';
  assert.equal(
    await textOf('text/markdown', text),
    'Plan\nNow.\ntitle: Dredging plan\nauthor: Nils Brandt\ntags: quay, sand\nversion: 1.10',
  );
  assert.equal(
    await textOf('text/markdown', '<details><summary>More</summary>The fuse</details>\n'),
    'More\nThe fuse',
  );
  assert.equal(await textOf('text/markdown', '---\n*bad: [yaml\n---\n\nText.'), '*bad: [yaml\nText.');
});

test('equations are text on one line', async () => {
  const math =
    '<p>Then <math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac><mo>&lt;</mo><msup><mi>x</mi><mn>2</mn></msup><annotation>a</annotation></math>.</p>';
  assert.equal(await textOf('text/html', math), 'Then (a+b)/2<x^2.');
});

test('signs that open and never end cost one pass', async () => {
  const open = (sign: string) => sign.repeat(40_000);
  const ms = await processorMs(async () => {
    await textOf('text/html', `</math>${open('<math>')}`);
    await textOf('text/html', `<p>${open('x<sup>2</sup>')}`);
    await textOf('text/mdx', open('{/* '));
    await textOf('text/x-org', open(':PROPERTIES:\n'));
    await textOf('application/x-subrip', `00:00:01,000 --> 00:00:02,000\n${open('<v ')}`);
    await textOf('text/asciidoc', open('footnote:['));
  });
  assert.ok(ms < 5_000, `${ms} ms`);
});
