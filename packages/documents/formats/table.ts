import { parse } from 'csv-parse/sync';
import { unreadable } from '../errors.ts';
import type { Block, Extracted } from './blocks.ts';
import { type Cell, TableRows } from './table-rows.ts';

/** Extracts each row by itself, with the names of its columns. */
export function extractCsv(whole: string, delimiter?: string): Extracted {
  // Spreadsheet programs take a first line `sep=;` for an instruction.
  const [instruction = '', told] = /^\uFEFF?sep=([,;\t|])\n/i.exec(whole) ?? [];
  const text = whole.slice(instruction.length);
  let rows: string[][];
  try {
    rows = parse(text, {
      delimiter: told ?? delimiter ?? commonest(text),
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

/**
 * Rows with the first full one as names of columns. Rows above it with a value or two, as the title of a table, stand for themselves, as do
 * names of columns without values.
 */
export function rowBlocks(rows: readonly (readonly (string | Cell)[])[]): Block[] {
  const filled = rows
    .map((row) => row.map((cell) => (typeof cell === 'string' ? { text: cell } : cell)))
    .filter((row) => row.some(({ text, rows: below = 1 }) => text.trim() !== '' || below > 1));
  const at = headerAt(filled);
  const textOf = (row: readonly Cell[]) => valuesOf(row).join('; ');
  const above = filled.slice(0, at).map(textOf);
  const [header = [], ...rest] = filled.slice(at);
  const table = new TableRows();
  const first = rest.length === 0 || !mayName(header, filled) ? [textOf(header)] : [];
  if (first.length === 0) table.add(header, true);
  const below = rest.map((row) => table.add(row) ?? '');
  const unused = first.length === 0 ? table.unusedNames : [];
  return [...above, ...(unused.length > 0 ? [unused.join('; ')] : []), ...first, ...below]
    .filter((text) => text !== '')
    .map((text) => ({ text }));
}

function valuesOf(row: readonly Cell[]): string[] {
  return row.map(({ text }) => text.trim()).filter((text) => text !== '');
}

const titleRowsMax = 10;

/** Columns that the values of a row cover; a single value is one, whatever it covers. */
function widthOf(row: readonly Cell[]): number {
  const full = row.filter(({ text }) => text.trim() !== '');
  return full.length === 1 ? 1 : full.reduce((sum, { columns = 1 }) => sum + columns, 0);
}

/** The place of the header: the first row, or below rows with few values the first one with as many as rows usually have. */
function headerAt(rows: readonly (readonly Cell[])[]): number {
  const widths = rows.map(widthOf);
  const usual = widths.toSorted((one, other) => one - other)[widths.length >> 1] ?? 0;
  if (usual < 2 || (widths[0] ?? 0) * 2 > usual) return 0;
  return Math.max(
    0,
    widths.slice(0, titleRowsMax).findIndex((width) => width >= usual),
  );
}

/** False for a first row of numbers, for one with a number twice, for one of values below the title of a narrow table, and for a single value above a wider one. */
function mayName(header: readonly Cell[], rows: readonly (readonly Cell[])[]): boolean {
  const width = Math.max(...rows.map(widthOf));
  const values = valuesOf(header);
  if (values.length < 2 && width > 1) return false;
  const numbers = values.filter((text) => /^[-+(]?[\d.,]+[%)]?$/.test(text) && !/^(?:19|20)\d\d$/.test(text));
  const areNumbers = values.length > 0 && numbers.length === values.length;
  if (width > 1 && (areNumbers || new Set(numbers).size < numbers.length)) return false;
  const isBelowTitle = rows[0] !== header;
  return !(width <= 2 && isBelowTitle && values.some((text) => /\d/.test(text)));
}

const separators = [',', ';', '\t', '|'];
const sampleLines = 20;

/** The sign that divides most lines at the start into as many values. */
function commonest(text: string): string {
  const lines = text
    .slice(0, 20_000)
    .split('\n')
    .slice(0, sampleLines)
    .filter((line) => line.trim() !== '');
  const scores = separators.map((sign) => {
    const widths = lines.map((line) => line.replace(/"[^"]*"/g, '').split(sign).length);
    const usual = widths.toSorted((one, other) => one - other)[widths.length >> 1] ?? 1;
    const even = widths.filter((width) => width === usual).length;
    return { sign, score: usual > 1 ? even * 100 + usual : Math.max(...widths, 1) / 100 };
  });
  return scores.sort((one, other) => other.score - one.score)[0]?.sign ?? ',';
}
