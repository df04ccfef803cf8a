import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvCell, unguarded } from './csv.ts';

test('a text that a spreadsheet would run has an apostrophe in front, which reading takes away', () => {
  for (const sign of ['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\r', '\n']) {
    for (const text of [`${sign}SUM(A1)`, `'${sign}SUM(A1)`]) {
      const cell = csvCell(text).replace(/^"(.*)"$/s, '$1');
      assert.equal(cell, `'${text}`);
      assert.equal(unguarded(cell), text);
      assert.equal(csvCell(text, false).replace(/^"(.*)"$/s, '$1'), text);
    }
  }
  for (const text of ['-12.50', '+7', 'a=b', "'quoted'"]) assert.equal(csvCell(text), text);
});
