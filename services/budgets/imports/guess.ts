import type { FileHead, Imports } from './imports.ts';
import { type DateFormat, dateFormats, type ParsedRow, type ReadOptions, type RowField } from './row.ts';

/** Names of columns in files of banks and other programs, without spaces and in lower case. */
const synonyms: Readonly<Record<RowField, readonly string[]>> = {
  spentOn: [
    'spenton',
    'date',
    'bookingdate',
    'bookedon',
    'transactiondate',
    'posteddate',
    'valuedate',
    'day',
  ],
  description: ['description', 'payee', 'merchant', 'name', 'text', 'purpose', 'details', 'memo', 'subject'],
  amount: ['amount', 'sum', 'debit', 'outflow', 'withdrawal', 'paidout', 'value', 'total'],
  currency: ['currency', 'currencycode'],
  category: ['category', 'group', 'type'],
  tags: ['tags', 'labels'],
  notes: ['notes', 'note', 'comment', 'comments', 'memo'],
  externalId: ['externalid', 'id', 'transactionid', 'reference', 'fitid'],
};

export type Mapping = Partial<Record<RowField, string>>;

/** Which column each field is probably in, each column once. Fields that every file needs get any column. */
export function guessMapping(columns: readonly string[]): Mapping {
  const mapping: Mapping = {};
  const free = new Set(columns.filter((name) => name !== ''));
  const take = (field: RowField, column: string | undefined) => {
    if (column === undefined) return;
    mapping[field] = column;
    free.delete(column);
  };
  for (const [field, names] of Object.entries(synonyms) as [RowField, readonly string[]][]) {
    const found = names.flatMap((name) => [...free].filter((column) => simplified(column) === name));
    take(field, found[0]);
  }
  for (const field of ['spentOn', 'description', 'amount'] as const)
    if (mapping[field] === undefined) take(field, [...free][0] ?? columns[0]);
  return mapping;
}

function simplified(column: string): string {
  return column.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

const signs = ['positive', 'negative'] as const;

interface Reading {
  readonly sign: (typeof signs)[number];
  readonly dateFormat: DateFormat;
  readonly rows: ParsedRow[];
}

/** The reading of dates and signs by which most rows are expenses, among those that are not given. */
export async function bestReading(
  imports: Imports,
  head: FileHead,
  options: Omit<ReadOptions, 'sign' | 'dateFormat'>,
  given: { readonly sign: string; readonly dateFormat: string },
): Promise<Reading> {
  let best: Reading | undefined;
  for (const sign of signs.filter((each) => given.sign === '' || given.sign === each)) {
    for (const dateFormat of dateFormats.filter((each) => [each, ''].includes(given.dateFormat))) {
      const rows = await imports.parseHead(head, { ...options, sign, dateFormat });
      if (!best || expensesIn(rows) > expensesIn(best.rows)) best = { sign, dateFormat, rows };
    }
  }
  if (!best) throw new Error('no reading was tried');
  return best;
}

function expensesIn(rows: readonly ParsedRow[]): number {
  return rows.filter((row) => 'expense' in row).length;
}
