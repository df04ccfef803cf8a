import { parse } from 'csv-parse/sync';
import { unreadable } from '../../errors.ts';
import { type Block, describedRow, type Extracted } from './blocks.ts';

/** Each row by itself, with the names of its columns. */
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

/** Rows with the first one as header. */
export function rowBlocks(rows: readonly (readonly string[])[]): Block[] {
  const [header = [], ...rest] = rows.filter((row) => row.some((cell) => cell.trim() !== ''));
  if (rest.length === 0) return header.length > 0 ? [{ text: header.join('; ') }] : [];
  return rest.map((row) => ({ text: describedRow(header, row) }));
}

/** The sign between the values of the first line. */
function commonest(text: string): string {
  const line = text.slice(0, 10_000).split('\n', 1)[0] ?? '';
  const counted = [',', ';', '\t', '|'].map((sign) => [sign, line.split(sign).length] as const);
  return counted.sort((one, other) => other[1] - one[1])[0]?.[0] ?? ',';
}
