import type { Html } from '@octavo/web/html';
import { formatNumber, table } from '@octavo/web/html';

export interface RowError {
  readonly line: number;
  readonly field: string;
  readonly message: string;
}

const fieldNames: Readonly<Record<string, string>> = { spentOn: 'day', externalId: 'ID at the bank' };

/** The lines of a file that could not be read. */
export function errorTable(errors: readonly RowError[]): Html {
  return table<RowError>({
    caption: 'Lines that could not be read',
    rows: errors.slice(0, 100),
    columns: [
      { header: 'Line', kind: 'number', cell: ({ line }) => formatNumber(line) },
      { header: 'Field', kind: 'fit', cell: ({ field }) => fieldNames[field] ?? field },
      { header: 'Problem', kind: 'main', cell: ({ message }) => message },
    ],
  });
}

/** The lines of a file that were skipped, and why. */
export function skippedTable(skipped: readonly { readonly line: number; readonly reason: string }[]): Html {
  return table({
    caption: 'Lines that were skipped',
    rows: skipped.slice(0, 100),
    columns: [
      { header: 'Line', kind: 'number', cell: ({ line }) => formatNumber(line) },
      { header: 'Reason', kind: 'main', cell: ({ reason }) => reason },
    ],
  });
}
