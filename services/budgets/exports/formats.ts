import { csvRecord } from '@octavo/core/text';
import { decimalText } from '@octavo/documents/values';
import { type ExpenseWithBudget, kindOf, toExpense } from '../expenses/index.ts';
import { tagText } from '../imports/index.ts';

export const exportFormats = ['csv', 'ofx', 'qif', 'json'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** An expense with the name of its budget. */
export type ExportedRow = ExpenseWithBudget & { readonly budget_name: string | null };

/** The range and the time of an export. */
export interface ExportFacts {
  readonly from: string;
  readonly to: string;
  readonly nowMs: number;
  /** CSV: whether no cell can act as a formula. */
  readonly isSafe: boolean;
}

/** Writes a file piece by piece. */
export interface ExportWriter {
  readonly mediaType: string;
  /** True if rows must come budget by budget. */
  readonly isByBudget: boolean;
  head(): string;
  rows(rows: readonly ExportedRow[]): string;
  tail(): string;
}

export function writerOf(format: ExportFormat, facts: ExportFacts): ExportWriter {
  switch (format) {
    case 'csv':
      return csvWriter(facts);
    case 'json':
      return jsonWriter();
    case 'qif':
      return qifWriter;
    case 'ofx':
      return ofxWriter(facts);
  }
}

const columns = ['spentOn', 'description', 'amount', 'currency', 'category', 'tags', 'notes', 'externalId'];

function csvWriter({ isSafe }: ExportFacts): ExportWriter {
  return {
    mediaType: 'text/csv; charset=utf-8; header=present',
    isByBudget: false,
    head: () => csvRecord([...columns, 'budget', 'kind']),
    rows: (rows) => rows.map((row) => csvRecord(csvCells(row), isSafe)).join(''),
    tail: () => '',
  };
}

function csvCells(row: ExportedRow): (string | null)[] {
  const { spent_on, description, amount_minor, currency, category, tags, notes, external_id } = row;
  const amount = decimalText(amount_minor, currency);
  const tagList = tagText(JSON.parse(tags));
  const place = [row.budget_name, kindOf(row)];
  return [spent_on, description, amount, currency, category, tagList, notes, external_id, ...place];
}

function jsonWriter(): ExportWriter {
  let isFirst = true;
  return {
    mediaType: 'application/json; charset=utf-8',
    isByBudget: false,
    head: () => '[',
    rows(rows) {
      const items = rows.map((row) => JSON.stringify(toExpense(row))).join(',');
      const joined = isFirst ? items : `,${items}`;
      isFirst = false;
      return joined;
    },
    tail: () => ']',
  };
}

const qifWriter: ExportWriter = {
  mediaType: 'application/qif; charset=utf-8',
  isByBudget: false,
  head: () => '!Type:Cash\n',
  rows: (rows) => rows.map(qifRow).join(''),
  tail: () => '',
};

function qifRow({ spent_on, amount_minor, currency, description, notes, category }: ExportedRow): string {
  const fields = [
    `D${spent_on}`,
    `T${decimalText(-amount_minor, currency)}`,
    `P${oneLine(description)}`,
    ...(notes ? [`M${oneLine(notes)}`] : []),
    ...(category ? [`L${oneLine(category)}`] : []),
  ];
  return `${fields.join('\n')}\n^\n`;
}

function oneLine(text: string): string {
  return text
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join(' ');
}

/** Version 2.1.1, in XML. Each budget is an account. */
function ofxWriter({ from, to, nowMs }: ExportFacts): ExportWriter {
  /** Number of the budget whose account is open. */
  let open: number | undefined;
  const now = ofxTime(nowMs);
  const status = '<STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>';
  let spent = 0n;
  let currency = 'USD';
  const close = () => {
    const balance = decimalText(-spent, currency);
    return `</BANKTRANLIST><LEDGERBAL><BALAMT>${balance}</BALAMT><DTASOF>${now}</DTASOF></LEDGERBAL></STMTRS></STMTTRNRS>\n`;
  };
  return {
    mediaType: 'application/x-ofx; charset=utf-8',
    isByBudget: true,
    head: () =>
      '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n' +
      '<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>\n' +
      `<OFX>\n<SIGNONMSGSRSV1><SONRS>${status}<DTSERVER>${now}</DTSERVER><LANGUAGE>ENG</LANGUAGE></SONRS></SIGNONMSGSRSV1>\n` +
      '<BANKMSGSRSV1>\n',
    rows(rows) {
      let text = '';
      for (const row of rows) {
        if (row.budget !== open) {
          text += (open === undefined ? '' : close()) + openAccount(row);
          open = row.budget;
          currency = row.currency;
          spent = 0n;
        }
        spent += BigInt(row.amount_minor);
        text += ofxRow(row);
      }
      return text;
    },
    tail: () => `${open === undefined ? '' : close()}</BANKMSGSRSV1>\n</OFX>\n`,
  };

  function openAccount({ budget_id, currency }: ExportedRow): string {
    const account = `<BANKACCTFROM><BANKID>octavo</BANKID><ACCTID>${accountId(budget_id ?? `unassigned-${currency}`)}</ACCTID><ACCTTYPE>CHECKING</ACCTTYPE></BANKACCTFROM>`;
    const range = `<DTSTART>${ofxDay(from)}</DTSTART><DTEND>${ofxDay(to)}</DTEND>`;
    return `<STMTTRNRS><TRNUID>0</TRNUID>${status}<STMTRS><CURDEF>${currency}</CURDEF>${account}<BANKTRANLIST>${range}\n`;
  }
}

const nameCharacters = 32;
const memoCharacters = 255;

function ofxRow({
  id,
  external_id,
  spent_on,
  amount_minor,
  currency,
  description,
  notes,
}: ExportedRow): string {
  const amount = decimalText(-amount_minor, currency);
  const whole = oneLine(description);
  // Names are at most 32 characters; the memo has the whole of a longer one.
  const memo = whole.length > nameCharacters ? whole : oneLine(notes ?? '');
  const fields = [
    `<TRNTYPE>${amount_minor < 0 ? 'CREDIT' : 'DEBIT'}</TRNTYPE>`,
    `<DTPOSTED>${ofxDay(spent_on)}</DTPOSTED>`,
    `<TRNAMT>${amount}</TRNAMT>`,
    `<FITID>${escaped(external_id ?? id)}</FITID>`,
    `<NAME>${escaped(cut(whole, nameCharacters))}</NAME>`,
    ...(memo ? [`<MEMO>${escaped(cut(memo, memoCharacters))}</MEMO>`] : []),
  ];
  return `<STMTTRN>${fields.join('')}</STMTTRN>\n`;
}

function cut(text: string, characters: number): string {
  return [...text].slice(0, characters).join('').trim();
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Account id of at most 22 characters. */
function accountId(budgetId: string): string {
  return budgetId.replaceAll('-', '').slice(-22);
}

function ofxDay(day: string): string {
  return `${day.replaceAll('-', '')}120000`;
}

function ofxTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace(/[-:T]/g, '');
}
