import type { Html } from '@octavo/web/html';
import { count, formatNumber, table } from '@octavo/web/html';
import type { MadeResult } from './task.ts';

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

/** Sentences about the budgets and rules that an undo deleted or left, each after a space. */
export function madeText(made: MadeResult = []): string {
  const gone = (['budget', 'rule'] as const).flatMap((kind) => {
    const some = made.filter((each) => each.kind === kind && each.kept === null);
    return some.length === 0 ? [] : [count(some.length, kind)];
  });
  const removed = made.filter(({ kept }) => kept === null).length;
  const deleted =
    removed > 0 ? [` ${gone.join(' and ')} that it made ${removed === 1 ? 'was' : 'were'} deleted.`] : [];
  const kept = made.flatMap(({ kind, name, kept: reason }) =>
    reason === null ? [] : [` The ${kind} “${name}” stays: ${reason}.`],
  );
  return [...deleted, ...kept].join('');
}
