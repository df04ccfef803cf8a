import type { Database } from '@octavo/data';
import { addSpendings, budgetByNumber, checkThresholds, deleteExpenses } from '../../budgets/index.ts';
import type { AccountTransaction } from '../../commands.ts';
import { reverseAll } from '../../ledger/index.ts';
import type { BudgetRow, Tables } from '../../store/tables.ts';
import { countAllExpenses, undoneTask } from '../store.ts';
import {
  countImported,
  madeRows,
  releaseExpenses,
  unchangedRows,
  unidentifyExpenses,
  unmatchExpenses,
} from './store.ts';

/** Expenses of one transaction. On SQLite everybody waits for it. */
const sliceExpenses = { sqlite: 100, postgres: 400 };
const listedMax = 1_000;

/** An expense that an import made and that stays when the import is undone. */
export interface KeptExpense {
  readonly id: string;
  readonly reason: string;
}

/** Counts the expenses that the undo of an import would delete, and those that stay or stayed. */
export async function countTakenBack(
  database: Database<Tables>,
  owner: number,
  task: string,
): Promise<{ undone: number; kept: number }> {
  const touched = (await countAllExpenses.first(database, { owner }))?.total ?? 0;
  const place = { database, session: database, touched };
  const { all, unchanged } = await countImported(place, { owner, task });
  const left = await countImported(place, { owner, task: undoneTask(task) });
  return { undone: unchanged, kept: all - unchanged + left.all };
}

/** Deletes some of the expenses that an import made and that nothing has changed since. Returns their number, 0 if there are none left. */
export async function takeBackSome(transaction: AccountTransaction, task: string): Promise<number> {
  const { session, owner } = transaction;
  const limit = sliceExpenses[session.dialect];
  const rows = await unchangedRows(session, { owner, task, limit });
  if (rows.length === 0) return 0;
  await reverseAll(
    transaction,
    rows.map(({ transaction_id }) => transaction_id),
  );
  await deleteExpenses.run(session, { owner, numbers: JSON.stringify(rows.map(({ number }) => number)) });
  for (const [number, some] of Map.groupBy(rows, (row) => row.budget)) {
    const budget = (await budgetByNumber.first(session, { owner, number })) as BudgetRow;
    const removed = some.map(({ spent_on: day, amount_minor }) => ({ day, minor: -amount_minor }));
    await addSpendings(transaction, budget, removed, -1);
    await checkThresholds(transaction, budget, [...new Set(removed.map(({ day }) => day))], { isBulk: true });
  }
  return rows.length;
}

/**
 * Takes back what an import gave to expenses that were there before it. Returns those that it made and that stay: they are of no import any
 * more, and still count as imported.
 */
export async function releaseImport(
  { session, owner }: AccountTransaction,
  task: string,
): Promise<KeptExpense[]> {
  await unmatchExpenses(session, { owner, task });
  await unidentifyExpenses(session, { owner, task });
  const made = await madeRows(session, { owner, task, limit: listedMax });
  await releaseExpenses(session, { owner, task });
  return made.map(({ id, file_id_task }) => ({
    id,
    reason: file_id_task ? 'a later file has it too' : 'it was changed since',
  }));
}
