import { setImmediate as nextTurn } from 'node:timers/promises';
import { newOrderedId } from '@octavo/core';
import { toMajor } from '@octavo/documents/values';
import { addSpendings, checkThresholds, idOfBudget } from '../../budgets/index.ts';
import type { AccountTransaction } from '../../commands.ts';
import { postAll, side } from '../../ledger/index.ts';
import { indexExpenses } from '../../store/expense-search-index.ts';
import type { BudgetRow } from '../../store/tables.ts';
import { insertExpenses, insertTags } from './store.ts';

/** An expense in the currency of its budget, that was checked already; a refund has an amount below 0. */
export interface NewExpense {
  readonly currency: string;
  /** The budget that a rule gives it. */
  readonly budgetId?: string | undefined;
  readonly description: string;
  readonly minor: number;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly spentOn: string;
  readonly notes: string | null;
  readonly externalId: string | null;
  /** The account of the file that it comes from, and what the file says it is. */
  readonly account: string | null;
  readonly text: string;
  /** True if the file says that money came back. */
  readonly isRefund?: boolean;
  /** The amount before the bank converted it. */
  readonly original: Original | null;
}

/** An amount in another currency, and units of the budget's currency for one unit of it. */
export interface Original {
  readonly minor: number;
  readonly currency: string;
  readonly rate: string;
}

const none = { minor: null, currency: null, rate: null };
/** Rows after which other requests get their turn. */
const sliceRows = 250;

/** Adds many expenses of a file at once, with all that `createExpense` does except notifications of single expenses. */
export async function addExpenses(
  transaction: AccountTransaction,
  budget: BudgetRow,
  { expenses, task }: { readonly expenses: readonly NewExpense[]; readonly task: string },
): Promise<void> {
  if (expenses.length === 0) return;
  for (let start = 0; start < expenses.length; start += sliceRows) {
    if (start > 0) await nextTurn();
    await insertSlice(transaction, budget, { expenses: expenses.slice(start, start + sliceRows), task });
  }
  const spent = expenses.map(({ spentOn: day, minor }) => ({ day, minor }));
  await addSpendings(transaction, budget, spent);
  await checkThresholds(transaction, budget, [...new Set(spent.map(({ day }) => day))], { isBulk: true });
}

/** The rows of some expenses: their debits, tags and words. */
async function insertSlice(
  transaction: AccountTransaction,
  budget: BudgetRow,
  { expenses, task }: { readonly expenses: readonly NewExpense[]; readonly task: string },
): Promise<void> {
  const { session, owner, actor, nowMs } = transaction;
  const addedBy = actor === owner ? null : actor;
  const { currency } = budget;
  const budgetId = idOfBudget(budget);
  const ids = expenses.map(() => newOrderedId());
  const debits = await postAll(
    transaction,
    expenses.map(({ description, minor }, index) => {
      return { ...side(minor), description, currency, budgetId, expenseId: ids[index] ?? null };
    }),
  );
  const rows = expenses.map((each, index) => {
    const { description, minor, category, tags, spentOn, notes, externalId } = each;
    const money = [minor, toMajor(Math.abs(minor), currency), currency];
    const tagList = JSON.stringify([...new Set(tags)]);
    const place = [ids[index], owner, budget.number, description, ...money, category, tagList, spentOn];
    const file = [task, each.account, spentOn, minor, each.text];
    const { minor: paidMinor, currency: paidIn, rate } = each.original ?? none;
    const abroad = [paidMinor, paidIn, rate, each.original && spentOn];
    return [...place, notes, externalId, debits[index], nowMs, nowMs, 1, ...file, ...abroad, addedBy];
  });
  const inserted = await insertExpenses(session, rows);
  const numbers = new Map(inserted.map(({ id, number }) => [id, number]));
  const numbered = expenses.map((each, index) => {
    const number = numbers.get(ids[index] as string) as number;
    return { ...each, number, tags: JSON.stringify(each.tags), tagList: new Set(each.tags) };
  });
  const tags = numbered.flatMap(({ number, tagList }) => [...tagList].map((tag) => [owner, tag, number]));
  if (tags.length > 0) await insertTags(session, tags);
  await indexExpenses(session, owner, numbered);
}
