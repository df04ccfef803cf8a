import type { AccountTransaction } from '../commands.ts';
import type { NewExpense } from '../expenses/index.ts';
import {
  forgetIncomes,
  insertIncomes,
  postAll,
  releaseIncomes,
  reverseAll,
  unchangedIncomes,
} from '../ledger/index.ts';

/** Incomes of one transaction when an import is undone. */
const sliceIncomes = 100;

/** Adds money that came in by a file: each a credit of the ledger without a budget. Amounts in a file are below 0. */
export async function addIncomes(
  transaction: AccountTransaction,
  { rows, task }: { readonly rows: readonly NewExpense[]; readonly task: string },
): Promise<void> {
  if (rows.length === 0) return;
  const { session, owner } = transaction;
  const ids = await postAll(
    transaction,
    rows.map(({ description, minor, currency }) => {
      return { type: 'credit', description, amountMinor: -minor, currency, budgetId: null, expenseId: null };
    }),
  );
  const incomes = rows.map(({ spentOn, minor, currency, externalId, account, text }, index) => {
    return [
      owner,
      ids[index],
      spentOn,
      currency,
      -minor,
      1,
      externalId,
      task,
      account,
      spentOn,
      -minor,
      text,
    ];
  });
  await insertIncomes(session, incomes);
}

/** Reverses some of the incomes that an import made and that nothing has changed since. Returns their number, 0 if there are none left. */
export async function takeBackIncomes(transaction: AccountTransaction, task: string): Promise<number> {
  const { session, owner } = transaction;
  const rows = await unchangedIncomes(session, { owner, task, limit: sliceIncomes });
  const ids = rows.map(({ transaction_id }) => transaction_id);
  if (ids.length === 0) return 0;
  await reverseAll(transaction, ids);
  await forgetIncomes(session, owner, ids);
  return ids.length;
}

/** Makes the incomes of an import that stay such of no import, and lists their transactions. */
export async function releaseIncomesOf(
  { session, owner }: AccountTransaction,
  task: string,
): Promise<{ id: string; reason: string }[]> {
  const ids = await releaseIncomes(session, { owner, task });
  return ids.map((id) => ({ id, reason: 'it was changed since' }));
}
