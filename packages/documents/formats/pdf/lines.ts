import { markedText } from '../marks/raised.ts';
import type { PlacedItem } from './items.ts';

/** A line of a page: its text, where it is, and how large its letters are. Rows of a table stand for themselves. */
export interface Line {
  readonly text: string;
  readonly y: number;
  readonly height: number;
  /** Place of its last letter. */
  readonly right: number;
  readonly isRow?: boolean;
}

/** The lines of items in the order in which they are painted. */
export function linesOf(items: readonly PlacedItem[]): Line[] {
  const lines: Line[] = [];
  let open: PlacedItem[] = [];
  const end = () => {
    const line = lineOf(open);
    if (line.text !== '') lines.push(line);
    open = [];
  };
  for (const item of items) {
    const last = open.findLast(({ text }) => text.trim() !== '');
    // Some files have no line ends, only places.
    if (last && item.text.trim() !== '' && !isOnLine(open, last, item)) end();
    if (item.text !== '') open.push(item);
    if (item.endsLine) end();
  }
  end();
  return lines;
}

function isOnLine(open: readonly PlacedItem[], last: PlacedItem, item: PlacedItem): boolean {
  const height = Math.max(...open.map((each) => each.height), 4);
  return item.turn === last.turn && Math.abs(item.y - last.y) <= height * 0.8;
}

/** Share of the height of a line by which smaller text is raised. */
const riseMin = 0.15;
const smallerMax = 0.85;
/** Share of the height of a line from which a gap divides words. */
const gapMin = 0.2;

/** The text of items that stand on one line. */
export function lineOf(given: readonly PlacedItem[]): Line {
  const items = inReadingOrder(given);
  const height = Math.max(0, ...items.map((item) => (item.text.trim() === '' ? 0 : item.height)));
  const base =
    items.find((item) => item.text.trim() !== '' && item.height >= height * smallerMax)?.y ??
    items[0]?.y ??
    0;
  let text = '';
  let last: PlacedItem | undefined;
  for (const item of items) {
    const gap = last ? Math.max(last.left - item.right, item.left - last.right) : 0;
    if (gap > item.height * gapMin && !/\s$/.test(text) && !/^\s/.test(item.text)) text += ' ';
    const isSmall = item.text.trim() !== '' && item.height < height * smallerMax;
    const rise = isSmall ? (item.y - base) / height : 0;
    text += Math.abs(rise) > riseMin ? markedText(text, item.text, rise > 0) : item.text;
    last = item;
  }
  return {
    text: text.replace(/\s+/g, ' ').trim(),
    y: base,
    height,
    right: Math.max(...items.map(({ right }) => right)),
  };
}

/** Items of a line that reads from right to left in that order, with its numbers and foreign words in theirs. */
function inReadingOrder(items: readonly PlacedItem[]): readonly PlacedItem[] {
  const letters = (isRightToLeft: boolean) =>
    items
      .filter((item) => item.isRightToLeft === isRightToLeft)
      .reduce((sum, { text }) => sum + text.trim().length, 0);
  if (letters(true) === 0 || letters(true) < letters(false)) return items;
  const sorted = items
    .filter(({ text }) => text.trim() !== '')
    .toSorted((one, other) => other.right - one.right);
  const runs: PlacedItem[][] = [];
  for (const item of sorted) {
    const run = runs.at(-1);
    if (run && !item.isRightToLeft && run[0]?.isRightToLeft === false) run.unshift(item);
    else runs.push([item]);
  }
  return runs.flat();
}
