import { unreadable } from '../../errors.ts';
import type { Block, Extracted } from '../blocks.ts';
import { rowBlocks } from '../table.ts';
import type { Cell } from '../table-rows.ts';
import {
  type Attributes,
  byNumber,
  checkOffice,
  elementsOf,
  readArchive,
  readXml,
  withoutPrefixes,
} from './archive.ts';
import { readNumberFormats, shownNumber, shownText } from './number-formats.ts';
import { readHiddenFormats } from './spreadsheet-styles.ts';
import { readThemeColors } from './theme-colors.ts';

/** Extracts each row of each sheet, with the names of its columns; the name of a sheet is a heading. Hidden sheets, rows, columns and cells are left out. */
export function extractSpreadsheet(bytes: Uint8Array): Extracted {
  checkOffice(bytes);
  const members = readArchive(bytes, (name) =>
    /^xl\/(workbook|sharedStrings|styles|theme\/theme1|worksheets\/[^/]+)\.xml$|^xl\/_rels\/workbook\.xml\.rels$/i.test(
      name,
    ),
  );
  const part = (name: string) => withoutPrefixes(members.get(`xl/${name}`) ?? '');
  const styles = part('styles.xml');
  const workbook = part('workbook.xml');
  const formats: Formats = {
    shared: sharedTexts(part('sharedStrings.xml')),
    hiddenFormats: readHiddenFormats(styles, readThemeColors(members.get('xl/theme/theme1.xml') ?? '')),
    numberFormats: readNumberFormats(styles),
    is1904: /^(1|true)$/.test(elementsOf(workbook, 'workbookPr')[0]?.date1904 ?? ''),
  };
  const sheets = sheetsOf([...members.keys()], workbook, part('_rels/workbook.xml.rels'));
  if (sheets.length === 0) throw unreadable('The file is not a spreadsheet.');
  const blocks = sheets.flatMap(({ member, title, isHidden }): Block[] =>
    isHidden
      ? []
      : [
          { text: title, level: 1 },
          ...rowBlocks(rowsOf(withoutPrefixes(members.get(member) ?? ''), formats)),
        ],
  );
  const hidden = sheets.filter(({ isHidden }) => isHidden).map(({ title }) => title);
  const warnings = hidden.length > 0 ? [`Hidden sheets were not read: ${hidden.join(', ')}`] : [];
  return { blocks, warnings };
}

interface Sheet {
  readonly member: string;
  readonly title: string;
  readonly isHidden: boolean;
}

/** The sheets in the order of the workbook, or by number where it does not tell which part each one is. */
function sheetsOf(names: readonly string[], workbook: string, relations: string): Sheet[] {
  const targets = new Map(
    elementsOf(relations, 'Relationship').map(({ Id, Target }) => [
      Id,
      `xl/${Target?.replace(/^(\/xl\/|\.\/)/, '')}`,
    ]),
  );
  const members = names.filter((name) => /worksheets\//i.test(name)).sort(byNumber);
  const listed = elementsOf(workbook, 'sheet');
  const known = listed.flatMap((sheet) => {
    const member = targets.get(sheet['r:id']);
    return member !== undefined && members.includes(member) ? [{ member, sheet }] : [];
  });
  const others = members
    .filter((member) => known.every((each) => each.member !== member))
    .map((member, index) => ({ member, sheet: known.length === 0 ? listed[index] : undefined }));
  return [...known, ...others].map(({ member, sheet }, index) => ({
    member,
    title: sheet?.name ?? `Sheet ${index + 1}`,
    isHidden: (sheet?.state ?? 'visible') !== 'visible',
  }));
}

/** The texts that cells share, without how they are spoken. */
function sharedTexts(xml: string): string[] {
  const texts: string[] = [];
  let [isInside, isSpoken] = [false, false];
  readXml(xml, {
    open(name) {
      if (name === 'si') texts.push('');
      if (name === 'rPh') isSpoken = true;
      isInside = name === 't' && !isSpoken;
    },
    text(part) {
      if (isInside) texts.push((texts.pop() ?? '') + part);
    },
    close(name) {
      if (name === 't') isInside = false;
      if (name === 'rPh') isSpoken = false;
    },
  });
  return texts;
}

interface Formats {
  readonly shared: readonly string[];
  readonly hiddenFormats: ReadonlySet<number>;
  readonly numberFormats: readonly string[];
  /** True if days are counted from 1904, as workbooks of old Macs do. */
  readonly is1904: boolean;
}

/** A row of a sheet by the places of its cells. */
interface SheetRow {
  readonly number: number;
  readonly cells: string[];
}

function rowsOf(xml: string, formats: Formats): Cell[][] {
  // Rules and styles of tables give cells other grounds than their formats.
  const tellsGrounds = !/<(?:conditionalFormatting|tablePart)\b/.test(xml);
  const rows: SheetRow[] = [];
  const hiddenColumns = new Set<number>();
  const merges: string[] = [];
  let [row, isHiddenRow, isValue]: [SheetRow, boolean, boolean] = [{ number: 0, cells: [] }, false, false];
  let [column, type, value, format] = [-1, '', '', 0];
  readXml(xml, {
    open(name, attributes) {
      if (name === 'col' && isHidden(attributes, 'width')) addColumns(hiddenColumns, attributes);
      if (name === 'mergeCell') merges.push(attributes.ref ?? '');
      if (name === 'row') {
        isHiddenRow = isHidden(attributes, 'ht');
        row = { number: Number(attributes.r ?? row.number + 1), cells: [] };
        column = -1;
        if (!isHiddenRow) rows.push(row);
      }
      if (name === 'c') {
        column = attributes.r === undefined ? column + 1 : columnOf(attributes.r);
        [type, value, format] = [attributes.t ?? '', '', Number(attributes.s ?? 0)];
      }
      isValue = name === 'v' || name === 't';
    },
    text(part) {
      if (isValue) value += part;
    },
    close(name) {
      isValue = false;
      if (name !== 'c' || column >= columnsMax || hiddenColumns.has(column)) return;
      if (value !== '' && !(tellsGrounds && formats.hiddenFormats.has(format)))
        row.cells[column] = shownCell({ type, value, format }, formats);
    },
  });
  return withMerges(rows, merges);
}

interface StoredCell {
  readonly type: string;
  readonly value: string;
  readonly format: number;
}

function shownCell({ type, value, format }: StoredCell, { shared, numberFormats, is1904 }: Formats): string {
  const code = numberFormats[format];
  if (type === 's') return shownText(shared[Number(value)] ?? '', code);
  if (type === 'b') return value.trim() === '1' ? 'TRUE' : 'FALSE';
  if (type === '' || type === 'n') return shownNumber(value, code, is1904);
  return type === 'e' || type === 'd' ? value : shownText(value, code);
}

/** The rows with what their cells reach over. Places that another cell covers are left out. */
function withMerges(rows: readonly SheetRow[], merges: readonly string[]): Cell[][] {
  const numbers = new Set(rows.map(({ number }) => number));
  const spans = new Map<string, { columns: number; rows: number }>();
  const covered = new Set<string>();
  for (const merge of merges) {
    const [from, to] = merge.split(':').map(placeOf);
    if (!from || !to || to.column - from.column >= columnsMax || to.row - from.row >= mergedRowsMax) continue;
    if (covered.size > coveredMax) break;
    // Rows without cells of their own, and hidden ones, are none.
    const below = rangeOf(from.row, to.row).filter((row) => numbers.has(row));
    for (const row of below)
      for (const column of rangeOf(from.column, to.column)) covered.add(`${row} ${column}`);
    covered.delete(`${from.row} ${from.column}`);
    spans.set(`${from.row} ${from.column}`, { columns: to.column - from.column + 1, rows: below.length });
  }
  return rows.map(({ number, cells }) =>
    Array.from(cells, (text = '', column): Cell | undefined => {
      const place = `${number} ${column}`;
      return covered.has(place) ? undefined : { text, ...(text !== '' && spans.get(place)) };
    }).filter((cell) => cell !== undefined),
  );
}

const columnsMax = 1_000;
const mergedRowsMax = 10_000;
const coveredMax = 1_000_000;

function rangeOf(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

function placeOf(name: string): { readonly row: number; readonly column: number } {
  return { row: Number(/\d+$/.exec(name)?.[0] ?? 0), column: columnOf(name) };
}

/** True for a row or column that is hidden, or has no size. */
function isHidden(attributes: Attributes, size: string): boolean {
  return /^(1|true)$/.test(attributes.hidden ?? '') || Number(attributes[size] ?? 1) === 0;
}

/** Adds the columns of a `col` element, which counts from 1. */
function addColumns(columns: Set<number>, { min = '1', max = min }: Attributes): void {
  for (let column = Number(min); column <= Math.min(Number(max), columnsMax); column++)
    columns.add(column - 1);
}

/** The number of a column by the name of a cell: 0 for `A1`, 27 for `AB7`. */
function columnOf(cell: string): number {
  const letters = /^[A-Z]+/.exec(cell)?.[0] ?? 'A';
  return [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}
