import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFailedRows } from './failed-rows.js';
import { createRowParser } from './rows.js';

test('rows that were not saved can be mended in a file, and are the same when they are imported', () => {
  const rows = [
    { title: '', body: 'a "quoted"; body,\r\nwith lines' },
    { title: '=1+1', body: "''-x", userId: 'nobody' },
    { body: 'no title', other: 1 },
  ];
  const failed = createFailedRows();
  for (const [index, row] of rows.entries()) failed.add({ row: index + 1, message: 'title is wrong' }, row);
  const parser = createRowParser('csv');
  const parsed = [...parser.push(failed.text()), ...parser.end()];
  assert.deepEqual(parsed, [
    { title: '', body: 'a "quoted"; body,\r\nwith lines' },
    { title: '=1+1', body: "''-x", userId: 'nobody' },
    { title: '', body: 'no title' },
  ]);
  assert.match(failed.text(), /^\uFEFFtitle,body,userId,row,problem\r\n/);
  assert.equal(failed.count(), 3);
});

test('a row with too many cells has all of them in the file', () => {
  const parser = createRowParser('csv');
  const [row] = [...parser.push('body,title\nb,t,c,d\n'), ...parser.end()];
  const failed = createFailedRows();
  failed.add({ row: 1, message: 'has 4 cells' }, row);
  assert.match(failed.text(), /\r\nt,b,,1,has 4 cells,c,d\r\n$/);
});

test('no more is kept than fits into the memory', () => {
  const failed = createFailedRows();
  const row = { title: 'x'.repeat(1024 * 1024), body: '' };
  for (let number = 1; number <= 40; number++) failed.add({ row: number, message: 'is too long' }, row);
  assert.equal(failed.count(), 31);
});
