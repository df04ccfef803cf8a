import { type Cell, tableTexts } from '../table-rows.ts';
import type { PlacedItem } from './items.ts';
import { lineOf } from './lines.ts';

/** A table that was found among the items of a page. */
export interface FoundTable {
  readonly items: ReadonlySet<PlacedItem>;
  readonly rows: readonly string[];
  readonly y: number;
  readonly height: number;
}

/** Items of a row that stand close together. */
interface Segment {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly items: readonly PlacedItem[];
}

interface Row {
  readonly y: number;
  readonly height: number;
  readonly segments: readonly Segment[];
}

const rowsMin = 3;
/** Share of the height of a row from which a gap divides columns. */
const columnGap = 1.2;
/** Distance to the next row, in heights. */
const rowGapMax = 3.5;
const cellLengthMax = 45;
/** Share of the height by which texts of one row may be apart. */
const sameRow = 0.5;

/**
 * Tables whose columns are aligned. What could also be columns of prose, or a form, is none: lines that were read as rows by mistake are
 * worse than lines.
 */
export function tablesIn(items: readonly PlacedItem[]): FoundTable[] {
  const rows = rowsIn(items.filter(({ turn, text }) => turn === 0 && text.trim() !== ''));
  const tables: FoundTable[] = [];
  let open: Row[] = [];
  const end = () => {
    tables.push(...tablesOf(open));
    open = [];
  };
  for (const row of rows) {
    const last = open.at(-1);
    if (last && last.y - row.y > Math.max(last.height, row.height) * rowGapMax) end();
    if (row.segments.length < 2) end();
    else open.push(row);
  }
  end();
  return tables;
}

/** Attempts at a table in rows that stand below each other. */
const attemptsMax = 60;

/** The tables among rows that stand below each other: the longest that begins first, and then those below it. */
function tablesOf(rows: readonly Row[]): FoundTable[] {
  let attempts = 0;
  for (let first = 0; first + rowsMin <= rows.length; first++)
    for (let last = rows.length; last >= first + rowsMin && attempts < attemptsMax; last--, attempts++) {
      const table = tableOf(rows.slice(first, last));
      if (table) return [table, ...tablesOf(rows.slice(last))];
    }
  return [];
}

/** The rows of a page from the top, each in segments from the left. */
function rowsIn(items: readonly PlacedItem[]): Row[] {
  const groups: PlacedItem[][] = [];
  for (const item of items.toSorted((one, other) => other.y - one.y)) {
    const group = groups.at(-1);
    const first = group?.[0];
    if (first && first.y - item.y <= Math.max(first.height, item.height) * sameRow) group.push(item);
    else groups.push([item]);
  }
  return groups.map((group) => {
    const height = Math.max(...group.map((item) => item.height));
    const parts: PlacedItem[][] = [];
    let right = Number.NEGATIVE_INFINITY;
    for (const item of group.toSorted((one, other) => one.left - other.left)) {
      if (item.left - right > height * columnGap) parts.push([item]);
      else parts.at(-1)?.push(item);
      right = Math.max(right, item.right);
    }
    return { y: group[0]?.y ?? 0, height, segments: parts.map(segmentOf) };
  });
}

function segmentOf(items: readonly PlacedItem[]): Segment {
  return {
    text: lineOf(items).text,
    left: Math.min(...items.map(({ left }) => left)),
    right: Math.max(...items.map(({ right }) => right)),
    items,
  };
}

interface Column {
  left: number;
  right: number;
}

function tableOf(rows: readonly Row[]): FoundTable | undefined {
  const columns = columnsOf(rows);
  if (columns.length < 2 || isProse(rows)) return undefined;
  const cells = rows.map((row) => cellsOf(divided(row, columns), columns));
  if (!cells.every((row) => row !== undefined)) return undefined;
  const headers = headerRows(rows, cells, columns.length);
  // Without names, two columns are a form or a list, whose lines say as much.
  if (headers === 0 && columns.length < 3) return undefined;
  if (headers === 0 && !cells.every((row) => row.length > columns.length / 2)) return undefined;
  const items = rows.flatMap(({ segments }) => segments.flatMap((segment) => segment.items));
  return {
    items: new Set(items),
    rows: tableTexts(cells, headers),
    y: rows[0]?.y ?? 0,
    height: rows[0]?.height ?? 0,
  };
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

/** The cells of a row in these columns; undefined if two of its segments are in one column, or one is in none. */
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
    cells.push({ text, columns: last - first + 1 });
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
