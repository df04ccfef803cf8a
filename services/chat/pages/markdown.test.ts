import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Marked } from 'marked';
import { markdownReader, type Node } from './assets/markdown.js';

const read = markdownReader(Marked);
const nodesOf = (text: string) => read(text).flatMap(({ nodes }) => nodes);
const allNodes = (nodes: readonly Node[]): Node[] =>
  nodes.flatMap((node) =>
    typeof node === 'object' && 'children' in node ? [node, ...allNodes(node.children)] : [node],
  );
const textOf = (text: string) =>
  allNodes(nodesOf(text))
    .filter((node) => typeof node === 'string')
    .join('');

test('Markdown becomes elements, and markers become citations at their places', () => {
  const text = 'A **b [1]** `[1]` [A2].\n\n- c [1]\n\n|d|\n|-|\n|[2]|';
  const citations = allNodes(nodesOf(text)).filter((node) => typeof node === 'object' && 'marker' in node);
  assert.deepEqual(
    citations,
    ['1', 'A2', '1', '2'].map((marker, index) => ({ marker, at: [6, 18, 29, 43][index] })),
  );
  for (const { marker, at } of citations as { marker: string; at: number }[])
    assert.equal(text.slice(at, at + marker.length + 2), `[${marker}]`);
  assert.deepEqual(nodesOf('3. one\n4. two'), [
    {
      tag: 'ol',
      start: 3,
      children: [
        { tag: 'li', children: ['one'] },
        { tag: 'li', children: ['two'] },
      ],
    },
  ]);
});

test('what would load or lead somewhere is text', () => {
  for (const [text, shown] of [
    ['<script>alert(1)</script>', '<script>alert(1)</script>'],
    ['<p>a</p>\n\n<img src=x>', '<p>a</p><img src=x>'],
    ['![a picture](https://evil.example/x.png)', 'a picture'],
    ['[there](javascript:alert(1))', 'there'],
    ['[there](https://example.com)', 'there (https://example.com)'],
    ['<https://example.com>', '<https://example.com>'],
    ['[1]: https://example.com\n\n[there][1]', ': https://example.com[there]'],
    ['```js\nlet a = "<b>";', 'let a = "<b>";'],
  ] as const)
    assert.equal(textOf(text), shown);
});

test('texts of nothing but signs, which take the library too long, are plain', () => {
  for (const sign of ['>', '> ', '[', '![', '_a', '1. ', '- ', '*a **b ', '`', '|', '<']) {
    const text = sign.repeat(20_000);
    assert.deepEqual(nodesOf(text), [{ tag: 'p', children: [text] }]);
  }
});

test('no word gets lost, whatever signs are around it', () => {
  const pieces = [
    '*',
    '_',
    '`a`',
    '[1]',
    '(',
    ')',
    '[',
    '![',
    '<b>',
    '\n',
    '\n\n',
    '- ',
    '1. ',
    '# ',
    'word',
    ' ',
  ];
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join(''));
  const words = (text: string) => text.split('word').length;
  fc.assert(fc.property(texts, (text) => assert.equal(words(textOf(text)), words(text))));
});
