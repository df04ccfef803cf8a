import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { highlight } from './highlight.ts';
import { parseWordQuery } from './word-query.ts';

test('words, phrases and prefixes are marked as they are found', () => {
  const cases: [string, string, string][] = [
    ['Courage is running', 'run', 'Courage is [running]'],
    ['Émile Zola', 'emile', '[Émile] Zola'],
    ['to be or not to be', '"to be"', '[to be] or not [to be]'],
    ['to be or not to be', '"be to"', 'to be or not to be'],
    ['happiness and hap', 'happ*', '[happiness] and hap'],
    ['courage and fear', 'courage -fear', '[courage] and fear'],
    ['床前明月光', '明月', '床前[明月]光'],
    ['a b c', '"a b" "b c"', '[a b][ c]'],
    ['<b>&', 'b', '<[b]>&'],
    ['nothing here', '', 'nothing here'],
    ['', 'x', ''],
  ];
  for (const [text, query, expected] of cases) {
    const marked = highlight(text, parseWordQuery(query)).map((part) =>
      part.isMatch ? `[${part.text}]` : part.text,
    );
    assert.equal(marked.join(''), expected, query);
  }
  const typed = highlight('failing fails fail', parseWordQuery('fails', { isLastPrefix: true }));
  assert.equal(typed.filter(({ isMatch }) => isMatch).length, 3);
});

test('the parts make the text, whatever is looked for', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (text, query) => {
      const parts = highlight(text, parseWordQuery(query, { isLastPrefix: true }));
      assert.equal(parts.map((part) => part.text).join(''), text);
    }),
  );
});
