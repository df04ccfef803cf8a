import { CsvScanner, separatorIn } from '@octavo/core/text';
import { isAmountLike } from './amounts.ts';
import { ordersOf } from './days.ts';

/** Choices of a person, where the file is read another way. */
export interface LayoutOptions {
  readonly separator?: string | undefined;
  readonly header?: boolean | undefined;
  readonly skipLines?: number | undefined;
  /** True for the names of columns that are looked for. */
  readonly isHeader: (cells: readonly string[]) => boolean;
}

/** The table of a file. */
export interface Layout {
  readonly separator: string;
  /** The line with the names of columns, counted from 1; null if there is none. */
  readonly header: number | null;
  /** The names of columns: those of the header, else `1`, `2` and so on. */
  readonly names: readonly string[];
  /** Lines above the table. */
  readonly skippedLines: readonly number[];
  /** The first rows of the table. */
  readonly rows: readonly (readonly string[])[];
}

interface Line {
  readonly line: number;
  readonly cells: readonly string[];
}

const shownLinesMax = 1_000;

/** Finds the table in the text that a file begins with; undefined if there is no line that can be read. */
export function layoutOf(head: string, options: LayoutOptions): Layout | undefined {
  const { skipLines = 0, isHeader } = options;
  const separator = options.separator ?? separatorIn(head);
  const scanner = new CsvScanner(undefined, separator);
  const lines = [...scanner.push(head), ...scanner.end()].flatMap((record): Line[] =>
    record.problem === undefined && record.line > skipLines ? [record] : [],
  );
  const width = commonWidth(lines);
  const isCommon = ({ cells }: Line) => widthOf(cells) >= 2 && cells.length >= width;
  const fits = ({ cells }: Line) => isHeader(cells) && !readsAsData(cells);
  const wide = lines.findIndex(isCommon);
  const usual = wide === -1 ? 0 : wide;
  const named = lines.findIndex(fits);
  const first = skipLines > 0 ? 0 : named === -1 ? usual : named;
  const start = lines[first];
  if (!start) return undefined;
  const hasHeader = options.header ?? (fits(start) || !readsAsData(start.cells));
  const table = lines.slice(hasHeader ? first + 1 : first);
  const above = lines.slice(0, first).map(({ line }) => line);
  const columns = Math.max(start.cells.length, ...table.slice(0, 20).map(({ cells }) => widthOf(cells)));
  const names = Array.from({ length: columns }, (_, index) =>
    hasHeader ? (start.cells[index] ?? '').trim() : String(index + 1),
  );
  return {
    separator,
    header: hasHeader ? start.line : null,
    names,
    skippedLines: [...Array.from({ length: skipLines }, (_, index) => index + 1), ...above].slice(
      -shownLinesMax,
    ),
    rows: table.map(({ cells }) => cells),
  };
}

/** True if a line holds a day and an amount, as transactions do. */
export function readsAsData(cells: readonly string[]): boolean {
  const days = cells.filter((cell) => ordersOf(cell).length > 0);
  return days.length > 0 && cells.some((cell) => !days.includes(cell) && isAmountLike(cell));
}

/** The width that most lines have. */
function commonWidth(lines: readonly Line[]): number {
  const counts = new Map<number, number>();
  for (const { cells } of lines) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  const [most] = [...counts]
    .filter(([width]) => width > 1)
    .sort((one, other) => other[1] - one[1] || other[0] - one[0]);
  return most?.[0] ?? 1;
}

/** The number of cells without the empty ones at the end. */
export function widthOf(cells: readonly string[]): number {
  return cells.findLastIndex((cell) => cell.trim() !== '') + 1;
}
