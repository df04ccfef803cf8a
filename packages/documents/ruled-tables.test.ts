import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlacedItem } from './formats/pdf/items.ts';
import { ruledTablesIn } from './formats/pdf/ruled-tables.ts';
import type { Rule } from './formats/pdf/rules.ts';
import { placedItem as item } from './testing-pdf.ts';

const upright = (at: number, from: number, to: number): Rule => ({ isUpright: true, at, from, to });
const level = (at: number, from: number, to: number): Rule => ({ isUpright: false, at, from, to });
const rowsOf = (items: readonly PlacedItem[], rules: readonly Rule[]) =>
  ruledTablesIn(items, rules).map(({ rows }) => rows);

/** Lines around three columns and three rows of 100 by 20. */
const grid = [
  ...[0, 100, 200, 300].map((x) => upright(x, 0, 60)),
  ...[0, 20, 40, 60].map((y) => level(y, 0, 300)),
];
const cells = [
  ...['Crane', 'Head', 'Yard'].map((text, column) => item(text, 5 + column * 100, 45, 'bold')),
  ...['Boreas', 'Siv Aas', 'Spruce'].map((text, column) => item(text, 5 + column * 100, 25)),
  ...['Notos', 'Bo Lund', 'Pine'].map((text, column) => item(text, 5 + column * 100, 5)),
];

test('cells between lines are a table, also where lines are drawn in pieces or the sides are open', () => {
  const rows = [['Crane: Boreas; Head: Siv Aas; Yard: Spruce', 'Crane: Notos; Head: Bo Lund; Yard: Pine']];
  assert.deepEqual(rowsOf(cells, grid), rows);
  const pieces = grid.flatMap(({ from, to, ...rule }) => [
    { ...rule, from, to: to / 2 },
    { ...rule, from: to / 2 + 1, to },
  ]);
  assert.deepEqual(rowsOf(cells, pieces), rows);
  const open = grid.filter(({ isUpright, at }) => !isUpright || (at > 0 && at < 300));
  assert.deepEqual(rowsOf(cells, open), rows);
});

test('the first row names the columns only if it looks other than the rest', () => {
  const plain = cells.map((cell) => ({ ...cell, font: 'plain' }));
  assert.deepEqual(rowsOf(plain, grid), [
    ['Crane; Head; Yard', 'Boreas; Siv Aas; Spruce', 'Notos; Bo Lund; Pine'],
  ]);
});

test('what lines do not divide into cells is no table', () => {
  const across = [...cells, item('A text that goes on across the line', 105, 12)];
  assert.deepEqual(rowsOf(across, grid), []);
  const corner = grid.filter(({ isUpright, at }) => (isUpright ? at !== 100 : at !== 20));
  const rest = [level(20, 101, 300), upright(100, 0, 20), upright(100, 40, 60)];
  assert.deepEqual(rowsOf(cells, [...corner, ...rest]), []);
  const prose = [
    ...cells,
    ...Array.from({ length: 40 }, (_, index) => item('words of a long text', 2, index / 4)),
  ];
  assert.deepEqual(rowsOf(prose, grid), []);
  assert.deepEqual(rowsOf(cells.slice(0, 4), grid), []);
  assert.deepEqual(rowsOf(cells, grid.slice(0, 4)), []);
});

test('rows without a line between them are no table, but lines of a text that fills its cell are one row', () => {
  const tall = grid.filter(({ isUpright, at }) => isUpright || at !== 20);
  assert.deepEqual(rowsOf(cells, tall), []);
  const wrapped = [
    ...cells.slice(0, 3),
    item('Lifts stone and', 5, 25),
    item('wood by day', 5, 13),
    item('Siv Aas or, on', 105, 25),
    item('days off, Bo', 105, 13),
    item('Spruce', 205, 25),
  ];
  assert.deepEqual(rowsOf(wrapped, tall), [
    ['Crane: Lifts stone and wood by day; Head: Siv Aas or, on days off, Bo; Yard: Spruce'],
  ]);
});

test('many lines that meet are read at once', () => {
  const lines = Array.from({ length: 1_000 }, (_, at) => [
    upright(at * 4, 0, 4_000),
    level(at * 4, 0, 4_000),
  ]);
  assert.deepEqual(rowsOf(cells, lines.flat()), []);
});
