import { notFound } from '@octavo/core';
import DataLoader from 'dataloader';
import { type Budget, findBudgets, findSpending, type Spending } from '../budgets/index.ts';
import type { Caller, Context } from '../commands.ts';
import { type ExpensesOfBudget, listExpensesOf } from '../expenses/index.ts';

/** Loaders of one operation, which batch reads: a list costs as many statements as one of its rows. */
export interface Loaders {
  readonly budget: DataLoader<string, Budget>;
  readonly spending: DataLoader<{ readonly budgetId: string; readonly period: string }, Spending, string>;
  readonly expenses: DataLoader<ExpensesKey, ExpensesOfBudget, string>;
}

interface ExpensesKey {
  readonly budgetId: string;
  readonly first: number;
  readonly after: string | undefined;
}

export function createLoaders(context: Context, caller: Caller): Loaders {
  return {
    budget: new DataLoader<string, Budget>(async (ids) => {
      const found = await findBudgets(context, caller, ids);
      return ids.map((id) => found.get(id) ?? notFound('budget', id));
    }),
    spending: new DataLoader(
      (keys) =>
        inGroups(
          keys,
          ({ period }) => period,
          (some, { period }) => findSpending(context, caller, idsOf(some), period),
        ),
      { cacheKeyFn: ({ budgetId, period }) => `${budgetId} ${period}` },
    ),
    expenses: new DataLoader(
      (keys) =>
        inGroups(
          keys,
          ({ first, after }) => `${first} ${after}`,
          (some, { first, after }) => listExpensesOf(context, caller, idsOf(some), { first, after }),
        ),
      { cacheKeyFn: ({ budgetId, first, after }) => `${budgetId} ${first} ${after}` },
    ),
  };
}

/** Reads the keys of each group at once. A group is a field of the query with its arguments. */
async function inGroups<K extends { readonly budgetId: string }, V>(
  keys: readonly K[],
  groupOf: (key: K) => string,
  read: (some: readonly K[], first: K) => Promise<Map<string, V | Error>>,
): Promise<(V | Error)[]> {
  const results = new Map<K, V | Error>();
  for (const some of Map.groupBy(keys, groupOf).values()) {
    const [first] = some;
    const found = await read(some, first as K);
    for (const key of some) results.set(key, found.get(key.budgetId) ?? notFound('budget', key.budgetId));
  }
  return keys.map((key) => results.get(key) as V | Error);
}

function idsOf(keys: readonly { readonly budgetId: string }[]): string[] {
  return keys.map(({ budgetId }) => budgetId);
}
