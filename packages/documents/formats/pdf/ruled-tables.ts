import { type Cell, tableTexts } from '../table-rows.ts';
import type { PlacedItem } from './items.ts';
import { type Line, linesOf } from './lines.ts';
import type { Rule } from './rules.ts';
import type { FoundTable } from './tables.ts';

/** Distance at which lines of a page meet, or are one. */
const near = 3;
const linesMax = 400;
const placesMax = 5_000;
/** Cells that are longer place paragraphs on the page. */
const cellLengthMax = 600;
/** Part of the cells that must have text. */
const filledMin = 0.5;

/**
 * Tables whose cells are divided by lines, so that merged cells can be told. Lines that do not divide their area into rectangles, and cells
 * with a text across a line, are no table.
 */
export function ruledTablesIn(items: readonly PlacedItem[], rules: readonly Rule[]): FoundTable[] {
  const texts = items.filter(({ turn, text }) => turn === 0 && text.trim() !== '');
  return groupsOf(rules).flatMap((group) => {
    const grid = gridOf(group);
    const table = grid && tableOf(grid, texts);
    return table ? [table] : [];
  });
}

/** Lines that are drawn in pieces, or twice, as one. */
function joinedRules(rules: readonly Rule[]): Rule[] {
  const groups: Rule[][] = [];
  for (const rule of rules.toSorted((one, other) => one.at - other.at)) {
    const group = groups.at(-1);
    if (group?.[0] && rule.at - group[0].at <= near) group.push(rule);
    else groups.push([rule]);
  }
  return groups.flatMap((group) => {
    const lines: { isUpright: boolean; at: number; from: number; to: number }[] = [];
    const at = group.reduce((sum, rule) => sum + rule.at, 0) / group.length;
    for (const { isUpright, from, to } of group.toSorted((one, other) => one.from - other.from)) {
      const last = lines.at(-1);
      if (last && from - last.to <= near) last.to = Math.max(last.to, to);
      else lines.push({ isUpright, at, from, to });
    }
    return lines;
  });
}

interface Group {
  readonly upright: readonly Rule[];
  readonly level: readonly Rule[];
}

/** Lines that meet each other. */
function groupsOf(rules: readonly Rule[]): Group[] {
  const left = new Set(rules);
  const groups: Group[] = [];
  for (const first of left) {
    const group: Record<'upright' | 'level', Rule[]> = { upright: [], level: [] };
    const next = [first];
    left.delete(first);
    for (let rule = next.pop(); rule; rule = next.pop()) {
      group[rule.isUpright ? 'upright' : 'level'].push(rule);
      for (const other of left)
        if (meet(rule, other)) {
          left.delete(other);
          next.push(other);
        }
    }
    const [upright, level] = [joinedRules(group.upright), joinedRules(group.level)];
    if (upright.length + level.length <= linesMax) groups.push({ upright, level });
  }
  return groups;
}

/** True for lines that cross, or go on in each other. */
function meet(one: Rule, other: Rule): boolean {
  if (one.isUpright !== other.isUpright) return reaches(one, other.at) && reaches(other, one.at);
  return Math.abs(one.at - other.at) <= near && (reaches(one, other.from) || reaches(other, one.from));
}

function reaches({ from, to }: Rule, place: number): boolean {
  return place >= from - near && place <= to + near;
}

interface Grid extends Group {
  /** Places of the lines between columns from the left. */
  readonly xs: readonly number[];
  /** Places of the lines between rows from the top. */
  readonly ys: readonly number[];
}

function gridOf({ upright, level }: Group): Grid | undefined {
  if (upright.length === 0 || level.length === 0) return undefined;
  // Tables may be open at their sides.
  const xs = placesOf(upright, level);
  const ys = placesOf(level, upright).toReversed();
  if (xs.length < 3 || ys.length < 3 || xs.length * ys.length > placesMax) return undefined;
  return { upright, level, xs, ys };
}

function placesOf(lines: readonly Rule[], across: readonly Rule[]): number[] {
  const ends = [Math.min(...across.map(({ from }) => from)), Math.max(...across.map(({ to }) => to))];
  const places: number[] = [];
  for (const place of [...lines.map(({ at }) => at), ...ends].toSorted((one, other) => one - other))
    if (places.length === 0 || place - (places.at(-1) as number) > near) places.push(place);
  return places;
}

/** A cell by its first and last row and column among the lines. */
interface Area {
  top: number;
  bottom: number;
  left: number;
  right: number;
  readonly items: PlacedItem[];
}

/** The cells of a grid by their places in rows; undefined if one is no rectangle. */
function areasIn(grid: Grid): Area[][] | undefined {
  const { xs, ys, upright, level } = grid;
  const areas: Area[][] = ys.slice(1).map(() => []);
  for (let row = 0; row + 1 < ys.length; row++)
    for (let column = 0; column + 1 < xs.length; column++) {
      if (areas[row]?.[column]) continue;
      const area = { top: row, bottom: row, left: column, right: column, items: [] };
      while (area.right + 2 < xs.length && !isDivided(upright, xs[area.right + 1] as number, middle(ys, row)))
        area.right++;
      while (
        area.bottom + 2 < ys.length &&
        !isDivided(level, ys[area.bottom + 1] as number, middle(xs, column))
      )
        area.bottom++;
      for (let y = area.top; y <= area.bottom; y++)
        for (let x = area.left; x <= area.right; x++) {
          if (areas[y]?.[x]) return undefined;
          const rightOf = x < area.right && isDivided(upright, xs[x + 1] as number, middle(ys, y));
          const below = y < area.bottom && isDivided(level, ys[y + 1] as number, middle(xs, x));
          if (rightOf || below) return undefined;
          (areas[y] as Area[])[x] = area;
        }
    }
  return areas;
}

function middle(places: readonly number[], index: number): number {
  return ((places[index] ?? 0) + (places[index + 1] ?? 0)) / 2;
}

/** True if one of the lines at a place reaches another place along it. */
function isDivided(lines: readonly Rule[], at: number, along: number): boolean {
  return lines.some((line) => Math.abs(line.at - at) <= near && along >= line.from && along <= line.to);
}

function tableOf(grid: Grid, texts: readonly PlacedItem[]): FoundTable | undefined {
  const areas = areasIn(grid);
  if (!areas) return undefined;
  const own = new Set<PlacedItem>();
  for (const item of texts) {
    const row = intervalOf(grid.ys, item.y + item.height / 3);
    const area = areas[row]?.[intervalOf(grid.xs, (item.left + item.right) / 2)];
    if (!area) continue;
    const isAcross =
      item.left < (grid.xs[area.left] ?? 0) - near || item.right > (grid.xs[area.right + 1] ?? 0) + near;
    if (isAcross) return undefined;
    area.items.push(item);
    own.add(item);
  }
  const cells = [...new Set(areas.flat())];
  const [tops, lefts] = [new Set(cells.map(({ top }) => top)), new Set(cells.map(({ left }) => left))];
  const filled = cells.filter(({ items }) => items.length > 0);
  const isTable = tops.size > 1 && lefts.size > 1 && filled.length >= cells.length * filledMin;
  if (!isTable || isUndivided(cells, grid)) return undefined;
  const within = (places: ReadonlySet<number>, from: number, to: number) =>
    [...places].filter((place) => place >= from && place <= to).length;
  const rows = [...tops]
    .toSorted((one, other) => one - other)
    .map((top) => cells.filter((cell) => cell.top === top).toSorted((one, other) => one.left - other.left));
  const read = rows.map((row) =>
    row.map(({ items, top, bottom, left, right }) => ({
      text: linesOf(items)
        .map(({ text }) => text)
        .join(' '),
      columns: within(lefts, left, right),
      rows: within(tops, top, bottom),
    })),
  );
  if (read.flat().some(({ text }) => text.length > cellLengthMax)) return undefined;
  const [first] = own;
  return {
    items: own,
    rows: tableTexts(read, headerRows(rows, read)),
    y: first?.y ?? 0,
    height: first?.height ?? 0,
  };
}

/** The index of the two places that another one is between. */
function intervalOf(places: readonly number[], place: number): number {
  return places.findIndex((one, index) => {
    const other = places[index + 1];
    return other !== undefined && place >= Math.min(one, other) && place < Math.max(one, other);
  });
}

/**
 * True if rows of the table may have no lines between them: cells beside each other have lines of text at the same heights, and not all
 * end where the next word would not fit.
 */
function isUndivided(cells: readonly Area[], { xs }: Grid): boolean {
  const bands = Map.groupBy(cells, ({ top, bottom }) => `${top} ${bottom}`);
  return [...bands.values()].some((band) => {
    const texts = band
      .map((cell) => ({ cell, lines: linesOf(cell.items) }))
      .filter(({ lines }) => lines.length > 1);
    const same = Map.groupBy(texts, ({ lines }) => lines.map(({ y }) => Math.round(y / near)).join(' '));
    return [...same.values()].some(
      (each) => each.length > 1 && !each.every(({ cell, lines }) => isWrapped(lines, cell, xs)),
    );
  });
}

/** Most that a cell leaves free at a side. */
const paddingMax = 12;

/** True if each line but the last ends where the first word of the next one would not fit, and no number follows another. */
function isWrapped(lines: readonly Line[], { left, right, items }: Area, xs: readonly number[]): boolean {
  const start = Math.min(...items.map((item) => item.left));
  const padding = Math.min(paddingMax, Math.max(near, start - (xs[left] as number)) + near);
  const end = (xs[right + 1] as number) - padding;
  const isNumber = ({ text }: Line) => /^\W*\d[\d.,\s]*\W*$/.test(text);
  return lines.slice(1).every((line, index) => {
    if (isNumber(line) && isNumber(lines[index] as Line)) return false;
    const letter = (line.right - start) / line.text.length;
    const word = /^\S*/.exec(line.text)?.[0].length ?? 0;
    return (lines[index]?.right ?? 0) + letter * (word + 1) > end;
  });
}

const name = /^\p{L}[^\d:!?]{0,60}$/u;

/** Rows at the top that name the columns, with those of titles above them; 0 if it is not certain. */
function headerRows(rows: readonly (readonly Area[])[], cells: readonly (readonly Cell[])[]): number {
  const titles = Math.max(
    0,
    cells.findIndex((row) => row.length > 1),
  );
  const [first = [], second = []] = cells.slice(titles);
  const isNamed = (row: readonly Cell[]) =>
    row.length > 1 && row.every(({ text }, column) => (text === '' && column === 0) || name.test(text));
  const texts = first.map(({ text }) => text);
  if (!isNamed(first) || new Set(texts).size < texts.length) return 0;
  const below = Math.max(...first.map(({ rows: each = 1 }) => each));
  const isDivided = first.some(({ columns = 1 }) => columns > 1) && (below > 1 || isNamed(second));
  const count = isDivided ? Math.max(2, below) : below;
  const fontsOf = (some: readonly (readonly Area[])[]) =>
    some.flatMap((row) => row.flatMap(({ items }) => items.map(({ font }) => font)));
  const names = rows.slice(titles, titles + count);
  const others = new Set(fontsOf(rows.slice(titles + count)));
  const isOther = fontsOf(names).every((font) => !others.has(font));
  return isDivided || isOther ? titles + count : 0;
}
