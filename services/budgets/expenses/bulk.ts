import { setImmediate as nextTurn } from 'node:timers/promises';
import { newOrderedId } from '@octavo/core';
import type { Session } from '@octavo/data';
import { toMajor } from '@octavo/documents/values';
import { addSpendings, checkThresholds } from '../budgets/index.ts';
import type { AccountTransaction } from '../commands.ts';
import { postAll } from '../ledger/index.ts';
import { indexExpenses } from '../store/expense-search-index.ts';
import type { BudgetRow, Tables } from '../store/tables.ts';
import { countEqual, insertExpenses, insertTags, knownIds } from './store.ts';

/** An expense in the currency of its budget, that was checked already. */
export interface NewExpense {
  readonly description: string;
  readonly minor: number;
  readonly category: string | null;
  readonly tags: readonly string[];
  readonly spentOn: string;
  readonly notes: string | null;
  readonly externalId: string | null;
}

/** Rows after which other requests get their turn. */
const sliceRows = 250;

/** Adds many expenses at once, with all that `createExpense` does except notifications of single expenses. */
export async function addExpenses(
  unit: AccountTransaction,
  budget: BudgetRow,
  expenses: readonly NewExpense[],
): Promise<void> {
  if (expenses.length === 0) return;
  for (let start = 0; start < expenses.length; start += sliceRows) {
    if (start > 0) await nextTurn();
    await insertSlice(unit, budget, expenses.slice(start, start + sliceRows));
  }
  const spent = expenses.map(({ spentOn: day, minor }) => ({ day, minor }));
  await addSpendings(unit, budget, spent);
  await checkThresholds(unit, budget, [...new Set(spent.map(({ day }) => day))]);
}

/** The rows of some expenses: their debits, tags and words. */
async function insertSlice(
  unit: AccountTransaction,
  budget: BudgetRow,
  expenses: readonly NewExpense[],
): Promise<void> {
  const { session, owner, nowMs } = unit;
  const { id: budgetId, currency } = budget;
  const ids = expenses.map(() => newOrderedId());
  const debits = await postAll(
    unit,
    expenses.map(({ description, minor: amountMinor }, index) => {
      return { type: 'debit', description, amountMinor, currency, budgetId, expenseId: ids[index] ?? null };
    }),
  );
  const rows = expenses.map((each, index) => {
    const { description, minor, category, tags, spentOn, notes, externalId } = each;
    const money = [minor, toMajor(minor, currency), currency];
    const tagList = JSON.stringify([...new Set(tags)]);
    const place = [ids[index], owner, budget.number, description, ...money, category, tagList, spentOn];
    return [...place, notes, externalId, debits[index], nowMs, nowMs, 1];
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

/** Returns the ids of a budget's expenses, and their number by day and amount. */
export async function findKnown(
  session: Session<Tables>,
  { owner, number: budget }: BudgetRow,
  expenses: readonly Pick<NewExpense, 'externalId' | 'spentOn' | 'minor'>[],
): Promise<{ ids: ReadonlySet<string>; equal: ReadonlyMap<string, number> }> {
  const ids = expenses.flatMap(({ externalId }) => externalId ?? []);
  const found =
    ids.length === 0 ? [] : await knownIds.all(session, { owner, budget, ids: JSON.stringify(ids) });
  const pairs = new Map(
    expenses.map(({ spentOn, minor }) => [equalKey({ spentOn, minor }), [spentOn, minor]]),
  );
  const counts = await countEqual.all(session, { owner, budget, pairs: JSON.stringify([...pairs.values()]) });
  return {
    ids: new Set(found.map(({ id }) => id)),
    equal: new Map(counts.map(({ day, minor, expenses }) => [equalKey({ spentOn: day, minor }), expenses])),
  };
}

/** Names what two expenses without ids are compared by. */
export function equalKey({ spentOn, minor }: Pick<NewExpense, 'spentOn' | 'minor'>): string {
  return `${spentOn} ${minor}`;
}
