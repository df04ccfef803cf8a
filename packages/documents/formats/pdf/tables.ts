import { type Cell, tableTexts } from '../table-rows.ts';
import { firstOfNumbers, isOfNumbers, namesAbove } from './column-names.ts';
import type { PlacedItem } from './items.ts';
import { type Column, type Row, rowsIn, segmentOf } from './rows.ts';
import type { Rule } from './rules.ts';

/** A table that was found among the items of a page. */
export interface FoundTable {
  readonly items: ReadonlySet<PlacedItem>;
  readonly rows: readonly string[];
  readonly y: number;
  readonly height: number;
}

const rowsMin = 3;
/** Distance to the next row, in heights. */
const rowGapMax = 3.5;
const cellLengthMax = 45;

/**
 * Tables whose columns are aligned. What could also be columns of prose, or a form, is none: lines that were read as rows by mistake are
 * worse than lines.
 */
export function tablesIn(items: readonly PlacedItem[], rules: readonly Rule[]): FoundTable[] {
  const rows = rowsIn(items.filter(({ turn, text }) => turn === 0 && text.trim() !== ''));
  const page = { rows, rules: rules.filter(({ isUpright }) => !isUpright) };
  return rangesOf(rows, isPart).flatMap((range) => tablesOf(page, range));
}

/** The rows of a page, and the level lines that it draws. */
interface Page {
  readonly rows: readonly Row[];
  readonly rules: readonly Rule[];
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** Rows in two parts or more that stand below each other, with those between them that may belong to them. */
function rangesOf(
  rows: readonly Row[],
  mayBelong: (row: Row, above: Row) => boolean,
  { from, to }: Range = { from: 0, to: rows.length },
): Range[] {
  const ranges: { from: number; to: number }[] = [];
  let [open, above]: [(typeof ranges)[number] | undefined, Row | undefined] = [undefined, undefined];
  for (let index = from; index < to; index++) {
    const [row, before] = [rows[index] as Row, rows[index - 1]];
    const isFar = before && before.y - row.y > Math.max(before.height, row.height) * rowGapMax;
    const isRow = row.segments.length > 1;
    if (isFar || (!isRow && !(above && mayBelong(row, above)))) open = undefined;
    if (isRow && !open) {
      open = { from: index, to: index };
      ranges.push(open);
    }
    if (isRow && open) open.to = index + 1;
    if (isRow) above = row;
  }
  return ranges;
}

/** True for a line that divides a table, such as "Women", or goes on with the first cell of a row. */
function isPart({ segments: [only] }: Row, { segments: [, second] }: Row): boolean {
  return only !== undefined && second !== undefined && only.right < second.left;
}

/** Tables of numbers among rows that stand below each other, and tables of texts in what is left. Lines above `floor` are of other tables. */
function tablesOf(page: Page, { from, to }: Range, floor = 0): FoundTable[] {
  const found = firstOfNumbersIn(page, { from, to }, floor);
  const texts = rangesOf(page.rows, () => false, { from, to: found?.from ?? to });
  return [
    ...texts.flatMap((range) => tablesOfTexts(page.rows, range)),
    ...(found ? [found.table, ...tablesOf(page, { from: found.to, to }, found.to)] : []),
  ];
}

/** Attempts at a table in rows that stand below each other. */
const attemptsMax = 60;

/** The longest table of numbers with names of its columns that begins first, and the rows that it takes. */
function firstOfNumbersIn(
  { rows, rules }: Page,
  { from, to }: Range,
  floor: number,
): ({ readonly table: FoundTable } & Range) | undefined {
  let attempts = 0;
  for (let first = from; first + rowsMin <= to; first++) {
    if (!isOfNumbers(rows[first] as Row)) continue;
    for (let last = to; last >= first + rowsMin && attempts < attemptsMax; last--) {
      if ((rows[last - 1]?.segments.length ?? 0) < 2) continue;
      attempts++;
      const above = rows.slice(floor, first).toReversed();
      const table = tableOfNumbers(rows.slice(first, last), { above, rules });
      if (table) return { from: first - table.lines, to: last, table };
    }
  }
  return undefined;
}

/** The tables of texts among rows that stand below each other: the longest that begins first, and then those below it. */
function tablesOfTexts(rows: readonly Row[], { from, to }: Range): FoundTable[] {
  let attempts = 0;
  for (let first = from; first + rowsMin <= to; first++)
    for (let last = to; last >= first + rowsMin && attempts < attemptsMax; last--, attempts++) {
      const table = tableOfTexts(rows.slice(first, last));
      if (table) return [table, ...tablesOfTexts(rows, { from: last, to })];
    }
  return [];
}

/** A table of numbers whose columns have names in the lines above it, the nearest one first, and the number of those lines. */
function tableOfNumbers(
  rows: readonly Row[],
  { above, rules }: { readonly above: readonly Row[]; readonly rules: readonly Rule[] },
): (FoundTable & { readonly lines: number }) | undefined {
  const start = firstOfNumbers(rows) ?? rows.length;
  const body = rows.slice(start);
  const [first] = body;
  if (!first || body.length < rowsMin) return undefined;
  const columns = columnsOf(body);
  const cells = columns.length < 2 || isProse(body) ? undefined : cellsOfRows(body, columns);
  const before = [...rows.slice(0, start).toReversed(), ...above];
  // Where values have no first cell, lines between them may name them, before or after.
  const isBroken =
    cells?.some(([own]) => own?.text === '') && body.some(({ segments }) => segments.length < 2);
  const names = cells && !isBroken && namesAbove(before, { columns, first, rules });
  if (!names) return undefined;
  const header = names.texts.map((text) => ({ text }));
  // A line of one cell is no value of the first column.
  const wide = ({ segments }: Row) => [
    { text: segments.map(({ text }) => text).join(' '), columns: columns.length },
  ];
  const parts = names.parts.map(wide);
  const own = cells.map((row, index) => {
    const given = body[index] as Row;
    return given.segments.length > 1 ? row : wide(given);
  });
  return {
    ...foundTable([...names.lines, ...names.parts, ...body], tableTexts([header, ...parts, ...own], 1)),
    lines: Math.max(0, names.lines.length + names.parts.length - start),
  };
}

function tableOfTexts(rows: readonly Row[]): FoundTable | undefined {
  const columns = columnsOf(rows);
  if (columns.length < 2 || isProse(rows)) return undefined;
  const cells = cellsOfRows(rows, columns);
  if (!cells) return undefined;
  const headers = headerRows(rows, cells, columns.length);
  // Without names, two columns are a form or a list, whose lines say as much.
  if (headers === 0 && columns.length < 3) return undefined;
  if (headers === 0 && !cells.every((row) => row.length > columns.length / 2)) return undefined;
  return foundTable(rows, tableTexts(cells, headers));
}

function foundTable(rows: readonly Row[], texts: readonly string[]): FoundTable {
  const items = rows.flatMap(({ segments }) => segments.flatMap((segment) => segment.items));
  return { items: new Set(items), rows: texts, y: rows[0]?.y ?? 0, height: rows[0]?.height ?? 0 };
}

function cellsOfRows(rows: readonly Row[], columns: readonly Column[]): Cell[][] | undefined {
  const cells = rows.map((row) => cellsOf(divided(row, columns), columns));
  return cells.every((row) => row !== undefined) ? cells : undefined;
}

/** The columns that rows with most cells have in common; none if they have not the same. */
function columnsOf(rows: readonly Row[]): Column[] {
  const most = Math.max(...rows.map(({ segments }) => segments.length));
  const full = rows.filter(({ segments }) => segments.length === most);
  if (full.length < 2) return [];
  const columns: Column[] = [];
  for (const { left, right } of full
    .flatMap(({ segments }) => segments)
    .toSorted((one, other) => one.left - other.left)) {
    const last = columns.at(-1);
    if (last && left <= last.right) last.right = Math.max(last.right, right);
    else columns.push({ left, right });
  }
  return columns.length === most ? columns : [];
}

/** A row whose segments are divided between columns that stand close to each other. */
function divided({ segments, ...row }: Row, columns: readonly Column[]): Row {
  const parts = segments.flatMap(({ items }) => {
    const cells: PlacedItem[][] = [];
    for (const item of items) {
      const last = cells.at(-1)?.at(-1);
      const isBetween = columns.some(({ left }, index) => {
        const before = columns[index - 1];
        return before && last && last.right <= left + slack && item.left >= before.right - slack;
      });
      if (last && !isBetween) cells.at(-1)?.push(item);
      else cells.push([item]);
    }
    return cells.map(segmentOf);
  });
  return { ...row, segments: parts };
}

const slack = 1;

/** The cells of a row in these columns, several numbers in one segment each in its own; undefined if two of its segments are in one column, or one is in none. */
function cellsOf({ segments }: Row, columns: readonly Column[]): Cell[] | undefined {
  const cells: Cell[] = [];
  let next = 0;
  for (const { text, left, right } of segments) {
    const over = columns.flatMap((column, index) =>
      left <= column.right && right >= column.left ? [index] : [],
    );
    // What is centered above a column may stand beside its values.
    const covered = over.length > 0 ? over : [columns.findLastIndex((column) => column.left <= left)];
    const [first, last] = [covered[0], covered.at(-1)];
    if (first === undefined || last === undefined || first < Math.max(0, next)) return undefined;
    for (; next < first; next++) cells.push({ text: '' });
    const values = text.split(' ');
    const isSeveral = last > first && values.length > 1 && values.every((value) => /^\W*\d/.test(value));
    if (isSeveral && values.length !== last - first + 1) return undefined;
    if (isSeveral) cells.push(...values.map((value) => ({ text: value })));
    else cells.push({ text, columns: last - first + 1 });
    next = last + 1;
  }
  for (; next < columns.length; next++) cells.push({ text: '' });
  return cells;
}

/** True for columns of prose: long parts, and parts that begin in lower case. */
function isProse(rows: readonly Row[]): boolean {
  const texts = rows.flatMap(({ segments }) => segments.map(({ text }) => text));
  const long = texts.filter((text) => text.length > cellLengthMax).length;
  const lower = texts.filter((text) => /^\p{Ll}{2}/u.test(text) && text.length > 12).length;
  return long > texts.length / 6 || lower > texts.length / 4;
}

const name = /^\p{L}[^:.!?]{0,40}$/u;

/** Rows at the top that name all columns; 0 if it is not certain. */
function headerRows(rows: readonly Row[], cells: readonly (readonly Cell[])[], width: number): number {
  const [first = [], second = []] = cells;
  const isNamed = (row: readonly Cell[]) =>
    row.every(({ text }) => text === '' || (name.test(text) && !/\d/.test(text)));
  const own = first.filter(({ text }) => text !== '');
  if (own.length < 2 || !isNamed(first) || new Set(own.map(({ text }) => text)).size < own.length) return 0;
  const isFull = first.length === width && first.every(({ text }, column) => text !== '' || column === 0);
  if (isFull) return width > 2 || differsInFont(rows) ? 1 : 0;
  const hasSpans = first.some(({ columns = 1 }) => columns > 1);
  const below = second.filter(({ text }) => text !== '').length;
  return hasSpans && isNamed(second) && below >= width - 1 && cells.length > 3 ? 2 : 0;
}

/** True if the first row is in another font than all others. */
function differsInFont([first, ...others]: readonly Row[]): boolean {
  const fontsOf = (row: Row | undefined) =>
    row?.segments.flatMap(({ items }) => items.map(({ font }) => font)) ?? [];
  const own = new Set(fontsOf(first));
  return others.every((row) => fontsOf(row).every((font) => !own.has(font)));
}
