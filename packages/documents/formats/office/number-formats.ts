import { format } from 'numfmt';
import { readXml } from './archive.ts';

/** Codes of the formats that every workbook has by number, in the words of the United States. */
const builtIn: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '$#,##0_);($#,##0)',
  6: '$#,##0_);($#,##0)',
  7: '$#,##0.00_);($#,##0.00)',
  8: '$#,##0.00_);($#,##0.00)',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  37: '#,##0_);(#,##0)',
  38: '#,##0_);(#,##0)',
  39: '#,##0.00_);(#,##0.00)',
  40: '#,##0.00_);(#,##0.00)',
  41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)',
  42: '_($* #,##0_);_($* (#,##0);_($* "-"_);_(@_)',
  43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
  44: '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
};

/** Days in the order of the reader's system, which is not told: 14 and 22, and those of East Asian workbooks. */
const localDates = /^(?:14|22|2[7-9]|3[0-6]|5[0-8])$/;
/** Stands for a format of {@link localDates}. */
const localDate = 'local date';
const general = 'General';

/** The code of each cell format of a workbook, by its number. */
export function readNumberFormats(xml: string): readonly string[] {
  const own = new Map<string, string>();
  const codes: string[] = [];
  let isInside = false;
  readXml(xml, {
    open(name, { numFmtId = '', formatCode }) {
      if (name === 'numFmt' && formatCode !== undefined) own.set(numFmtId, formatCode);
      if (name === 'cellXfs') isInside = true;
      if (!isInside || name !== 'xf') return;
      const local = localDates.test(numFmtId) ? localDate : undefined;
      codes.push(own.get(numFmtId) ?? local ?? builtIn[Number(numFmtId)] ?? general);
    },
    close(name) {
      if (name === 'cellXfs') isInside = false;
    },
  });
  return codes;
}

const daysTo1904 = 1_462;
const exactDigits = 15;

/** A number of a cell as the sheet shows it. Days in the order of the reader's system are those of ISO 8601. */
export function shownNumber(value: string, code = general, is1904 = false): string {
  const number = Number(value);
  if (value.trim() === '' || Number.isNaN(number)) return value;
  if (code === localDate) return dateOf(number, is1904) ?? value;
  if (isGeneral(code)) return generalText(number);
  const isDate = isDateCode(code);
  const days = isDate && is1904 ? number + daysTo1904 : number;
  try {
    // A currency's locale is that of its sign, and not of the decimal one.
    const own = isDate
      ? code
      : code.replace(/\[\$([^\]-]*)-[^\]]*\]/g, (_, sign) => (sign ? `"${sign}"` : ''));
    return format(own, days).replace(/\s+/g, ' ').trim();
  } catch {
    return generalText(number);
  }
}

/** A text of a cell as the sheet shows it, where its format adds something. */
export function shownText(value: string, code = general): string {
  if (!/@./.test(code) && !/.@/.test(code)) return value;
  try {
    return format(code, value).trim();
  } catch {
    return value;
  }
}

function isGeneral(code: string): boolean {
  return /^(?:General|@|Standard)?$/i.test(code);
}

/** Integers whole, as numbers of articles are, and other numbers by the digits that a sheet shows. */
function generalText(number: number): string {
  if (Number.isInteger(number) && Math.abs(number) < 10 ** exactDigits) return String(number);
  return format(general, number);
}

/** Returns true for a format with parts of a day outside of quotes, escapes, colors and conditions. */
function isDateCode(code: string): boolean {
  return /[dmyhs]/i.test(code.replace(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|General/gi, ''));
}

const dayMs = 86_400_000;

/** A number of days as a date of ISO 8601, with the time if it has one. Below a day it is a time. */
function dateOf(days: number, is1904: boolean): string | undefined {
  if (!(days >= 0 && days < 2_958_466)) return undefined;
  // Workbooks have a February 29, 1900, which there was not.
  const start = is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const moment = new Date(Math.round((start + days * dayMs) / 1_000) * 1_000).toISOString();
  const [date = '', time = ''] = moment.slice(0, 19).split('T');
  if (days < 1 && !is1904) return time;
  return time === '00:00:00' ? date : `${date} ${time}`;
}
