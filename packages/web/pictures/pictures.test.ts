import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { decodePng } from '@octavo/testing';
import { codePointsOf, coveredText } from './coverage.ts';
import { drawPicture } from './draw.ts';
import { fitText } from './lines.ts';
import type { TextBox } from './picture.ts';

const codePoints = codePointsOf(readFileSync(new URL('fonts/NotoSans-SemiBold.ttf', import.meta.url)));
const box: TextBox = {
  x: 20,
  y: 20,
  width: 200,
  height: 60,
  color: '#000000',
  font: 'sans',
  texts: [],
  sizes: [40, 20],
};
const dark = (red: number) => red < 128;
const drawn = async (part: Partial<TextBox>) =>
  decodePng(await drawPicture({ width: 240, height: 100, parts: [{ ...box, ...part }] }));

test('rectangles and texts are where they should be', async () => {
  const square = { x: 10, y: 5, width: 30, height: 20, color: '#4453d4' };
  const picture = decodePng(await drawPicture({ width: 60, height: 40, parts: [square] }));
  assert.deepEqual([picture.width, picture.height], [60, 40]);
  assert.deepEqual(picture.at(11, 6), [0x44, 0x53, 0xd4]);
  assert.deepEqual(picture.at(39, 24), [0x44, 0x53, 0xd4]);
  assert.deepEqual(picture.at(41, 24), [255, 255, 255]);
  assert.deepEqual(picture.at(20, 26), [255, 255, 255]);

  const left = await drawn({ texts: ['Hi'] });
  assert.ok(left.count({ x: 20, y: 20, width: 60, height: 60 }, dark) > 100);
  assert.equal(left.count({ x: 120, y: 0, width: 120, height: 100 }, dark), 0);
  const right = await drawn({ texts: ['Hi'], align: 'right', place: 'bottom' });
  assert.ok(right.count({ x: 160, y: 28, width: 60, height: 60 }, dark) > 100);
  assert.equal(right.count({ x: 0, y: 0, width: 120, height: 100 }, dark), 0);
});

test('the first text is set that the font has the letters of', async () => {
  const inkOf = async (...texts: string[]) =>
    (await drawn({ texts })).count({ x: 0, y: 0, width: 240, height: 100 }, dark);
  assert.equal(await inkOf('שלום', 'Hi'), await inkOf('Hi'));
  assert.equal(await inkOf('日本', 'مرحبا'), 0);
  assert.equal(await inkOf('Hi 😀👍🏽'), await inkOf('Hi'));
  assert.ok((await inkOf('Ωμέγα')) > 0 && (await inkOf('Привет')) > 0 && (await inkOf('Việt')) > 0);
});

test('texts lose emoji and what cannot be seen, but no letters', () => {
  const covered = (text: string) => coveredText(text, codePoints);
  assert.equal(covered('Good 👩‍👩‍👧 day 🎉!  Yes ❤️'), 'Good day! Yes');
  assert.equal(covered('Cafe\u0301\u200b\u202e \n two'), 'Café\ntwo');
  assert.equal(
    covered('Ελληνικά, Русский, Čeština, Tiếng Việt, ½ €'),
    'Ελληνικά, Русский, Čeština, Tiếng Việt, ½ €',
  );
  assert.equal(covered('two 二'), undefined);
  assert.equal(covered('🎉'), undefined);
});

test('texts shrink, keep their lines, and are cut at last', () => {
  const measure = (text: string) => text.length / 2;
  const fit = (text: string, more = {}) =>
    fitText(text, { width: 100, height: 60, sizes: [40, 20, 10], ...more }, measure);
  assert.deepEqual(fit('short'), { size: 40, lines: ['short'] });
  assert.deepEqual(fit('one two three four'), { size: 20, lines: ['one two', 'three four'] });
  assert.deepEqual(fit('first line\nsecond').lines, ['first line', 'second']);
  const { size, lines } = fit('word '.repeat(100));
  assert.equal(size, 10);
  assert.equal(lines.length, 4);
  assert.equal(lines.at(-1), 'word word word …');
  assert.deepEqual(fit(`— ${'a'.repeat(99)}`, { linesMax: 1 }).lines, [`— ${'a'.repeat(16)} …`]);
});
