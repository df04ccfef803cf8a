import { guessMapping, type ImportField } from '#kit/imports/columns.ts';
import type { FileHead, Imports } from '../imports.ts';
import { type DateFormat, dateFormats, type ParsedRow, type ReadOptions, type RowField } from './row.ts';

/** Our fields, with the names that banks and other programs give to their columns. */
export const importFields: readonly (ImportField & { readonly name: RowField })[] = [
  fieldOf('spentOn', 'Day', 'date bookingdate bookedon transactiondate posteddate valuedate day'),
  fieldOf('description', 'Description', 'payee merchant name text purpose details memo subject'),
  fieldOf('amount', 'Amount', 'sum debit outflow withdrawal paidout value total'),
  fieldOf('currency', 'Currency', 'currencycode'),
  fieldOf('category', 'Category', 'group type'),
  fieldOf('tags', 'Tags', 'labels'),
  fieldOf('notes', 'Notes', 'note comment comments memo'),
  fieldOf('externalId', 'ID at the bank', 'id transactionid reference fitid'),
];

function fieldOf(name: RowField, label: string, synonyms: string) {
  const isRequired = ['spentOn', 'description', 'amount'].includes(name);
  return { name, label, isRequired, synonyms: synonyms.split(' ') };
}

export type Mapping = Partial<Record<RowField, string>>;

/** Guesses the column of each field, each column once. Fields that every file needs get any column. */
export function guessColumns(columns: readonly string[]): Mapping {
  const mapping: Record<string, string> = { ...guessMapping(importFields, columns) };
  for (const { name } of importFields.filter(({ isRequired }) => isRequired)) {
    const free = columns.filter((column) => column !== '' && !Object.values(mapping).includes(column));
    const column = free[0] ?? columns[0];
    if (column !== undefined) mapping[name] ??= column;
  }
  return mapping;
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
