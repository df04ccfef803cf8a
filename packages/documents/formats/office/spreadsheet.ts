import type { Block, Extracted } from '../blocks.ts';
import { rowBlocks } from '../table.ts';
import { type Attributes, byNumber, checkOffice, elementsOf, readArchive, readXml } from './archive.ts';
import { readDateFormats, readHiddenFormats } from './spreadsheet-styles.ts';
import { readThemeColors } from './theme-colors.ts';

/** Extracts each row of each sheet, with the names of its columns; the name of a sheet is a heading. Hidden sheets, rows, columns and cells are left out. */
export function extractSpreadsheet(bytes: Uint8Array): Extracted {
  checkOffice(bytes);
  const members = readArchive(bytes, (name) =>
    /^xl\/(workbook|sharedStrings|styles|theme\/theme1|worksheets\/[^/]+)\.xml$|^xl\/_rels\/workbook\.xml\.rels$/.test(
      name,
    ),
  );
  const shared = sharedTexts(members.get('xl/sharedStrings.xml') ?? '');
  const colors = readThemeColors(members.get('xl/theme/theme1.xml') ?? '');
  const styles = members.get('xl/styles.xml') ?? '';
  const formats: Formats = {
    shared,
    hiddenFormats: readHiddenFormats(styles, colors),
    dateFormats: readDateFormats(styles),
    is1904: /^(1|true)$/.test(
      elementsOf(members.get('xl/workbook.xml') ?? '', 'workbookPr')[0]?.date1904 ?? '',
    ),
  };
  const blocks = sheetsOf(members).flatMap(({ member, title, isHidden }): Block[] =>
    isHidden ? [] : [{ text: title, level: 1 }, ...rowBlocks(rowsOf(members.get(member) ?? '', formats))],
  );
  return { blocks };
}

interface Sheet {
  readonly member: string;
  readonly title: string;
  readonly isHidden: boolean;
}

/** The sheets by number, with their entries in the workbook. */
function sheetsOf(members: ReadonlyMap<string, string>): Sheet[] {
  const targets = new Map(
    elementsOf(members.get('xl/_rels/workbook.xml.rels') ?? '', 'Relationship').map(({ Id, Target }) => [
      Id,
      `xl/${Target?.replace(/^(\/xl\/|\.\/)/, '')}`,
    ]),
  );
  const listed = elementsOf(members.get('xl/workbook.xml') ?? '', 'sheet');
  const byMember = new Map(listed.map((sheet) => [targets.get(sheet['r:id']), sheet]));
  const names = [...members.keys()].filter((name) => name.includes('worksheets/')).sort(byNumber);
  return names.map((member, index) => {
    const { name = `Sheet ${index + 1}`, state = 'visible' } = byMember.get(member) ?? listed[index] ?? {};
    return { member, title: name, isHidden: state !== 'visible' };
  });
}

function sharedTexts(xml: string): string[] {
  const texts: string[] = [];
  let isInside = false;
  readXml(xml, {
    open(name) {
      if (name === 'si') texts.push('');
      isInside = name === 't';
    },
    text(part) {
      if (isInside) texts.push((texts.pop() ?? '') + part);
    },
    close(name) {
      if (name === 't') isInside = false;
    },
  });
  return texts;
}

interface Formats {
  readonly shared: readonly string[];
  readonly hiddenFormats: ReadonlySet<number>;
  readonly dateFormats: ReadonlySet<number>;
  /** True if days are counted from 1904, as workbooks of old Macs do. */
  readonly is1904: boolean;
}

function rowsOf(xml: string, { shared, hiddenFormats, dateFormats, is1904 }: Formats): string[][] {
  // Rules and styles of tables give cells other grounds than their formats.
  const tellsGrounds = !/<(?:conditionalFormatting|tablePart)\b/.test(xml);
  const rows: string[][] = [];
  const hiddenColumns = new Set<number>();
  let [column, type, value, format, isValue, isHiddenRow, isHiddenCell] = [0, '', '', 0, false, false, false];
  readXml(xml, {
    open(name, attributes) {
      if (name === 'col' && isHidden(attributes, 'width')) addColumns(hiddenColumns, attributes);
      if (name === 'row') isHiddenRow = isHidden(attributes, 'ht');
      if (name === 'row' && !isHiddenRow) rows.push([]);
      if (name === 'c') [column, type, value] = [columnOf(attributes.r ?? ''), attributes.t ?? '', ''];
      if (name === 'c') format = Number(attributes.s ?? 0);
      if (name === 'c') isHiddenCell = tellsGrounds && hiddenFormats.has(format);
      isValue = name === 'v' || name === 't';
    },
    text(part) {
      if (isValue) value += part;
    },
    close(name) {
      isValue = false;
      if (name !== 'c' || isHiddenRow) return;
      const row = rows.at(-1) ?? [];
      if (hiddenColumns.has(column) || isHiddenCell) value = '';
      while (row.length < Math.min(column, columnsMax)) row.push('');
      if (column >= columnsMax) return;
      if (type === 's' && value !== '') row[column] = shared[Number(value)] ?? '';
      else row[column] = /^n?$/.test(type) && dateFormats.has(format) ? dateOf(value, is1904) : value;
    },
  });
  return rows;
}

const dayMs = 86_400_000;

/** A number of days as a date of ISO 8601, with the time if it has one. Below a day it is a time. */
function dateOf(value: string, is1904: boolean): string {
  const days = Number(value);
  if (value.trim() === '' || !(days >= 0 && days < 2_958_466)) return value;
  // Workbooks have a February 29, 1900, which there was not.
  const start = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const moment = new Date(Math.round((start + days * dayMs) / 1_000) * 1_000).toISOString();
  const [date = '', time = ''] = moment.slice(0, 19).split('T');
  if (days < 1 && !is1904) return time;
  return time === '00:00:00' ? date : `${date} ${time}`;
}

const columnsMax = 1_000;

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
