import assert from 'node:assert/strict';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { extract } from './extract.ts';
import { listNumber } from './formats/marks/list-numbers.ts';

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
