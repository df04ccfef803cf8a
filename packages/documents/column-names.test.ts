import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlacedItem } from './formats/pdf/items.ts';
import type { Rule } from './formats/pdf/rules.ts';
import { tablesIn } from './formats/pdf/tables.ts';
import { placedItem as item } from './testing-pdf.ts';

const lefts = [0, 120, 200, 280, 360];
/** Lines of a page, 12 units apart, by their texts from the left; an empty one leaves its column out. */
const page = (...lines: readonly (readonly string[])[]) =>
  lines.flatMap((texts, row) =>
    texts.flatMap((text, column) =>
      text === '' ? [] : [item(text, lefts[column] as number, 500 - row * 12)],
    ),
  );
const rowsOf = (items: readonly PlacedItem[], rules: readonly Rule[] = []) =>
  tablesIn(items, rules).flatMap(({ rows }) => rows);
const level = (row: number, from: number, to: number): Rule => ({
  isUpright: false,
  at: 497 - row * 12,
  from,
  to,
});
const boats = [
  ['Gull', '71', '52', '6', '3'],
  ['Tern', '64', '49', '5', '2'],
  ['Skua', '58', '40', '4', '1'],
];
const read = (first: string, ...names: string[]) =>
  boats.map(([boat, ...values]) =>
    [`${first}: ${boat}`, ...values.map((value, index) => `${names[index]}: ${value}`)].join('; '),
  );

test('names of columns of numbers go on over several lines above them', () => {
  const lines = [
    ['', 'Price in', '', 'Crew by', ''],
    ['Boat', 'summer', 'Winter', 'day', 'Night'],
  ];
  const names = read('Boat', 'Price in summer', 'Winter', 'Crew by day', 'Night');
  assert.deepEqual(rowsOf(page(...lines, ...boats)), names);
  const titled = page(['The boats of the northern harbor and what they cost'], ...lines, ...boats);
  assert.deepEqual(rowsOf(titled), names);
});

test('a name that columns share is before theirs where a line below it tells them', () => {
  const names = page(['Boat', 'summer', 'winter', 'day', 'night'], ...boats).map((each) => ({
    ...each,
    y: each.y - 12,
  }));
  const shared = [item('Price', 150, 500), item('Crew', 310, 500)];
  const drawn = [level(0, 120, 235), level(0, 280, 390)];
  const read5 = read('Boat', 'Price / summer', 'Price / winter', 'Crew / day', 'Crew / night');
  assert.deepEqual(rowsOf([...shared, ...names], drawn), read5);
  // One of both without a line may stand above one column or two.
  const rows = rowsOf([item('Price', 150, 500), item('of the crews', 280, 500), ...names], drawn.slice(0, 1));
  assert.doesNotMatch(rows.join('\n'), /crews \//);
});

test('years name columns, and numbers do not', () => {
  const years = page(
    ['Port', '2021', '2022', '2023'],
    ['Vik', '1,204', '1,310', '1,402'],
    ['Bø', '905', '880', '871'],
    ['Ås', '77', '81', '90'],
  );
  assert.deepEqual(rowsOf(years)[0], 'Port: Vik; 2021: 1,204; 2022: 1,310; 2023: 1,402');
  assert.doesNotMatch(rowsOf(page(...boats, ...boats)).join('\n'), /:/);
});

test('lines of one cell divide a table, unless its rows have no first cell', () => {
  const header = ['Boat', 'Summer', 'Winter', 'Day', 'Night'];
  const [first, ...others] = boats as [string[], ...string[][]];
  const divided = page(header, ['Old boats'], first, ...others.flatMap((row) => [['New ones'], row]));
  const [one = '', ...rest] = read('Boat', ...header.slice(1));
  const expected = ['Old boats', one, ...rest.flatMap((row) => ['New ones', row])];
  assert.deepEqual(rowsOf(divided), expected);
  const unnamed = page(header, ...boats.flatMap((row) => [[row[0] as string], ['', ...row.slice(1)]]));
  assert.doesNotMatch(rowsOf(unnamed).join('\n'), /Summer: /);
});

test('several numbers in one text stand in as many columns, or there is no table', () => {
  const glued = [
    ...page(['Boat', 'Summer', 'Winter', 'Day', 'Night'], ...boats),
    item('Auk', 0, 452),
    { ...item('55 38', 120, 452), right: 215 },
    item('7', 280, 452),
    item('2', 360, 452),
  ];
  assert.equal(rowsOf(glued).at(-1), 'Boat: Auk; Summer: 55; Winter: 38; Day: 7; Night: 2');
  const uncertain = glued.map((each) => (each.text === '55 38' ? { ...each, text: '55 38 41' } : each));
  assert.equal(
    rowsOf(uncertain).some((row) => row.includes('55')),
    false,
  );
});
