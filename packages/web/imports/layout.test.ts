import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layoutOf } from './layout.ts';

const isHeader = (cells: readonly string[]) => cells.includes('Sum');

test('the table is found below other lines, with the separator that most lines share', () => {
  const file =
    'Account;Daily\n\nFrom, to;1 May, 2 May\nDay;Text;Sum\n01.05.2026;Tea, hot;-4,20\n02.05.2026;Rent;-700,00\n';
  const layout = layoutOf(file, { isHeader });
  assert.deepEqual([layout?.separator, layout?.header, layout?.names], [';', 4, ['Day', 'Text', 'Sum']]);
  assert.deepEqual(layout?.skippedLines, [1, 3]);
  assert.deepEqual(layout?.rows[0], ['01.05.2026', 'Tea, hot', '-4,20']);
});

test('a first line that holds a day and an amount is no header', () => {
  const layout = layoutOf('2026-05-01|Tea|4.20\n2026-05-02|Rent|700.00\n', { isHeader });
  assert.deepEqual([layout?.separator, layout?.header, layout?.names], ['|', null, ['1', '2', '3']]);
  assert.equal(layoutOf('Day,What,Price\n2026-05-01,Tea,4.20\n', { isHeader: () => false })?.header, 1);
});

test('choices say where the table is', () => {
  const file = 'a,b\nDay,Sum\n2026-05-01,4\n';
  assert.equal(layoutOf(file, { isHeader, header: false })?.header, null);
  assert.deepEqual(layoutOf(file, { isHeader: () => false, skipLines: 1 })?.names, ['Day', 'Sum']);
  assert.deepEqual(layoutOf('sep=|\nDay|Sum\n1|2\n', { isHeader })?.names, ['Day', 'Sum']);
  assert.equal(layoutOf('\n \n', { isHeader }), undefined);
});
