import { isAmountLike } from '@octavo/web/imports';

const columnsMax = 6;
const rowsMin = 3;

interface Money {
  readonly amount?: number;
  readonly debit?: number;
  readonly credit?: number;
}

/** The columns of amounts in a table that has a balance: the balance grows and falls by what they say. Undefined if there is none. */
export function balanceIn(
  rows: readonly (readonly string[])[],
  candidates: readonly number[],
): Money | undefined {
  const columns = candidates.slice(0, columnsMax);
  const numbers = rows.map(
    (cells) => new Map(columns.map((column) => [column, numberIn(cells[column] ?? '')])),
  );
  for (const balance of columns) {
    const others = columns.filter((column) => column !== balance);
    for (const amount of others)
      if (moves(numbers, balance, (row) => row.get(amount) ?? 0)) return { amount };
    for (const debit of others) {
      for (const credit of others) {
        if (debit === credit) continue;
        const isPair = moves(numbers, balance, (row) => (row.get(credit) ?? 0) - (row.get(debit) ?? 0));
        if (isPair) return { debit, credit };
      }
    }
  }
  return undefined;
}

type NumberRow = ReadonlyMap<number, number>;

/** True if the balance moves by the sum in each row, in a file that goes up or down, before or after the row. */
function moves(rows: readonly NumberRow[], balance: number, sum: (row: NumberRow) => number): boolean {
  if (rows.length < rowsMin || rows.every((row) => sum(row) === 0)) return false;
  const fits = (sign: 1 | -1, offset: 0 | 1) =>
    rows.slice(1).every((row, index) => {
      const before = rows[index] as NumberRow;
      const step = (row.get(balance) ?? 0) - (before.get(balance) ?? 0);
      return Math.abs(step - sign * sum(offset === 1 ? row : before)) < 0.005;
    });
  return fits(1, 1) || fits(1, 0) || fits(-1, 0) || fits(-1, 1);
}

/** A number whose last sign is the decimal one. */
function numberIn(text: string): number {
  if (!isAmountLike(text)) return 0;
  const compact = text.replace(/[^\d.,-]/g, '');
  const last = Math.max(compact.lastIndexOf('.'), compact.lastIndexOf(','));
  const digits = (part: string) => part.replace(/[.,]/g, '');
  const number =
    last === -1 ? compact : `${digits(compact.slice(0, last))}.${digits(compact.slice(last + 1))}`;
  return Number(number) || 0;
}
