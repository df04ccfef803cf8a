import { unreadable } from '../../errors.ts';
import { limits } from '../../limits.ts';
import type { Block } from '../blocks.ts';
import { runningLines } from '../text.ts';
import { type PlacedItem, placed, type TextItem } from './items.ts';
import { type Line, linesOf } from './lines.ts';
import { ruledTablesIn } from './ruled-tables.ts';
import type { Rule } from './rules.ts';
import { tablesIn } from './tables.ts';
import type { Area, DrawnPage } from './unseen.ts';

export function tooManyPages(): Error {
  return unreadable(`A document must have at most ${limits.pagesMax} pages.`);
}

/** The items of a page that are seen. */
export function seenItems(items: readonly TextItem[], drawn: DrawnPage | undefined): PlacedItem[] {
  const unseen = drawn?.unseen ?? [];
  return items.filter((item) => isSeen(item, unseen)).map(placed);
}

/** Paragraphs, headings and rows of the pages, without the lines that are on every page, and warnings of pages without text. */
export function readPages(pages: readonly (readonly Line[])[]): {
  readonly blocks: Block[];
  readonly warnings: readonly string[];
} {
  const body = usualHeight(pages.flat());
  const isRunning = runningLines(pages.flatMap((lines) => edgesOf(lines)).map(({ text }) => text));
  const numbers = pageNumbers(pages);
  const own = pages.map((lines) => {
    const edges = new Set(edgesOf(lines));
    return lines.filter((line) => !numbers.has(line) && (!edges.has(line) || !isRunning(line.text)));
  });
  const blocks = joinedPages(own.map((lines, index) => paragraphsOf(lines, body, index + 1)));
  return { blocks, warnings: warningsFor(own) };
}

const namedPagesMax = 20;

/** Says which pages have no text. */
function warningsFor(pages: readonly (readonly Line[])[]): string[] {
  const empty = pages.flatMap((lines, index) => (lines.length === 0 ? [index + 1] : []));
  if (empty.length === 0) return [];
  if (empty.length === pages.length) return ['The pages have no text; scanned pages are not read.'];
  if (empty.length === 1) return [`Page ${empty[0]} has no text; scanned pages are not read.`];
  const more = empty.length > namedPagesMax ? ` and ${empty.length - namedPagesMax} more` : '';
  return [
    `Pages ${empty.slice(0, namedPagesMax).join(', ')}${more} have no text; scanned pages are not read.`,
  ];
}

/** The first and the last lines of a page, which may be on every page. */
function edgesOf(lines: readonly Line[]): Line[] {
  return [...lines.slice(0, 2), ...lines.slice(2).slice(-2)];
}

const pageNumber = /^[-–—\s]*(?:(?:page|seite|p\.)\s*)?(\d{1,4})(?:\s*(?:of|von|\/)\s*\d{1,4})?[-–—\s]*$/i;

/** First and last lines that number their pages: those that grow by one from a page to the next. */
function pageNumbers(pages: readonly (readonly Line[])[]): Set<Line> {
  const found = pages.flatMap((lines, index) =>
    [...new Set([lines[0], lines.at(-1)])].flatMap((line) => {
      const number = line && !line.isRow && pageNumber.exec(line.text)?.[1];
      return line && number ? [{ line, index, first: Number(number) - index }] : [];
    }),
  );
  const series = [...Map.groupBy(found, ({ first }) => first).values()];
  const goesOn = (each: typeof found) => {
    const places = new Set(each.map(({ index }) => index));
    return each.some(({ index }) => places.has(index + 1));
  };
  return new Set(series.filter(goesOn).flatMap((each) => each.map(({ line }) => line)));
}

/** Letters begin so far from the edge of their text. */
const edgeMax = 2;
/** Size up to which a text is too small to see. */
const tinyPoints = 1;

/** Returns false for a text that is tiny or begins in one of the areas. */
function isSeen({ str, transform, height }: TextItem, areas: readonly Area[]): boolean {
  if (str === undefined) return false;
  if (str.trim() === '') return true;
  const [x = 0, y = 0] = transform.slice(4);
  return (
    height > tinyPoints &&
    !areas.some(
      ({ left, bottom, right, top }) =>
        x >= left - edgeMax && x <= right + edgeMax && y >= bottom - edgeMax && y <= top + edgeMax,
    )
  );
}

/** The lines of a page in the order in which they are painted, with the rows of a table where its first text is. */
export function linesOn(items: readonly PlacedItem[], rules: readonly Rule[]): Line[] {
  const ruled = ruledTablesIn(items, rules);
  const unruled = items.filter((item) => !ruled.some((table) => table.items.has(item)));
  const tables = [...ruled, ...tablesIn(unruled, rules)];
  if (tables.length === 0) return linesOf(items);
  const lines: Line[] = [];
  const told = new Set<(typeof tables)[number]>();
  let others: PlacedItem[] = [];
  for (const item of items) {
    const table = tables.find((each) => each.items.has(item));
    if (!table) {
      others.push(item);
      continue;
    }
    if (told.has(table)) continue;
    told.add(table);
    lines.push(...linesOf(others));
    others = [];
    for (const text of table.rows)
      lines.push({ text, y: table.y, height: table.height, right: 0, isRow: true });
  }
  return [...lines, ...linesOf(others)];
}

/** The height of most letters. */
function usualHeight(lines: readonly Line[]): number {
  const counts = new Map<number, number>();
  for (const { text, height } of lines) {
    const rounded = Math.round(height * 2) / 2;
    counts.set(rounded, (counts.get(rounded) ?? 0) + text.length);
  }
  return [...counts].sort((one, other) => other[1] - one[1])[0]?.[0] ?? 0;
}

interface PageBlock extends Block {
  text: string;
  readonly page: number;
  readonly isRow: boolean;
}

/** Share of the width of a page up to which a line is short. */
const shortLine = 0.7;
const point = /^(?:[•‣◦▪●○–—-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S/u;

function paragraphsOf(lines: readonly Line[], body: number, page: number): PageBlock[] {
  const blocks: PageBlock[] = [];
  const right = Math.max(0, ...lines.map((line) => line.right));
  let before: Line | undefined;
  for (const line of lines) {
    // A short line that ends a sentence ends its paragraph, as points of a list do whose signs are drawn.
    const isAfterEnd = before !== undefined && /[.!?]$/.test(before.text) && before.right < right * shortLine;
    const begins = isAfterEnd || point.test(line.text);
    const isRow = line.isRow ?? false;
    const isHeading = !isRow && body > 0 && line.height >= body * 1.2 && line.text.length <= 120;
    const last = blocks.at(-1);
    const isNear =
      before !== undefined && Math.abs(before.y - line.y) <= Math.max(line.height, before.height) * 1.7;
    if (isHeading) {
      const level = line.height >= body * 1.6 ? 1 : 2;
      if (last?.level === level && isNear) last.text += ` ${line.text}`;
      else blocks.push({ text: line.text, level, page, isRow });
    } else if (last && last.level === undefined && isNear && !isRow && !last.isRow && !begins) {
      last.text = joined(last.text, line.text);
    } else {
      blocks.push({ text: line.text, page, isRow });
    }
    before = line;
  }
  return blocks;
}

/** The blocks of all pages. A sentence goes on over the end of a page. */
function joinedPages(pages: readonly (readonly PageBlock[])[]): Block[] {
  const blocks: PageBlock[] = [];
  for (const [first, ...others] of pages) {
    if (!first) continue;
    const last = blocks.at(-1);
    const goesOn =
      last?.level === undefined &&
      first.level === undefined &&
      last?.isRow === false &&
      !first.isRow &&
      /[\p{L}\p{N},-]$/u.test(last.text) &&
      /^\p{Ll}/u.test(first.text);
    if (goesOn && last) last.text = joined(last.text, first.text);
    else blocks.push(first);
    blocks.push(...others);
  }
  return blocks.map(({ text, level, page }) => ({ text, page, ...(level !== undefined && { level }) }));
}

/** Two lines of a paragraph, with a word that was divided at the end of a line as one. */
function joined(text: string, line: string): string {
  return /\p{Ll}[-\u00AD\u2010]$/u.test(text) && /^\p{Ll}/u.test(line)
    ? text.slice(0, -1) + line
    : `${text} ${line}`;
}
