import { parse } from 'csv-parse/sync';
import { unreadable } from '../errors.ts';
import { type Block, describedRow, type Extracted } from './blocks.ts';

/** Extracts each row by itself, with the names of its columns. */
export function extractCsv(text: string, delimiter?: string): Extracted {
  const separators = [delimiter ?? commonest(text)];
  let rows: string[][];
  try {
    rows = parse(text, {
      delimiter: separators,
      bom: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      trim: true,
    });
  } catch (cause) {
    throw unreadable('The table cannot be read: a quoted value does not end.', cause);
  }
  return { blocks: rowBlocks(rows) };
}

/** Rows with the first full one as header. Rows above it with a value or two, as the title of a table, stand for themselves. */
export function rowBlocks(rows: readonly (readonly string[])[]): Block[] {
  const filled = rows.filter((row) => row.some((cell) => cell.trim() !== ''));
  const at = headerAt(filled);
  const above = filled
    .slice(0, at)
    .map((row) => ({ text: row.filter((cell) => cell.trim() !== '').join('; ') }));
  const [header = [], ...rest] = filled.slice(at);
  if (rest.length === 0) return header.length > 0 ? [...above, { text: header.join('; ') }] : above;
  return [...above, ...rest.map((row) => ({ text: describedRow(header, row) }))];
}

const titleRowsMax = 10;

/** The place of the header: the first row, or below rows with few values the first one with as many as rows usually have. */
function headerAt(rows: readonly (readonly string[])[]): number {
  const widths = rows.map((row) => row.filter((cell) => cell.trim() !== '').length);
  const usual = widths.toSorted((one, other) => one - other)[widths.length >> 1] ?? 0;
  if (usual < 3 || (widths[0] ?? 0) * 2 > usual) return 0;
  return Math.max(
    0,
    widths.slice(0, titleRowsMax).findIndex((width) => width >= usual),
  );
}

/** The sign between the values of the first line. */
function commonest(text: string): string {
  const line = text.slice(0, 10_000).split('\n', 1)[0] ?? '';
  const counted = [',', ';', '\t', '|'].map((sign) => [sign, line.split(sign).length] as const);
  return counted.sort((one, other) => other[1] - one[1])[0]?.[0] ?? ',';
}
