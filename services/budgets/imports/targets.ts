import { AppError } from '@octavo/core';
import { isCurrency } from '@octavo/documents/values';
import { isTransfer, listBudgets, requireBudget, unassignedIn } from '../budgets/index.ts';
import type { AccountTransaction, Caller, Context } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import type { NewExpense } from '../expenses/index.ts';
import type { BudgetRow } from '../store/tables.ts';

interface Target {
  readonly budgetId?: string | null | undefined;
  readonly currency?: string | undefined;
}

/** The currency of an import into a budget; without one, any, and that of rows that name none. Throws `not_found`. */
export async function currenciesOf(
  context: Context,
  caller: Caller,
  { budgetId, currency }: Target,
): Promise<{ readonly currency: string; readonly anyCurrency: boolean }> {
  if (budgetId) {
    const { currency } = await requireBudget(context.db, caller.owner, budgetId);
    return { currency, anyCurrency: false };
  }
  if (currency !== undefined && !isCurrency(currency))
    throw invalid({ currency: 'must be the code of a currency (ISO 4217), such as USD' });
  const { items } = await listBudgets(context, caller, { limit: 1, isOwn: true });
  return { currency: currency ?? items[0]?.currency ?? 'USD', anyCurrency: true };
}

/** The budgets that rows go to: the one of the import; else that of a rule, if it is in the row's currency; else none. */
export async function byBudget(
  transaction: AccountTransaction,
  budgetId: string | null,
  expenses: readonly NewExpense[],
): Promise<Map<BudgetRow, NewExpense[]>> {
  const { session, owner } = transaction;
  const placed = new Map<BudgetRow, NewExpense[]>();
  const places = Map.groupBy(
    expenses,
    (each) => `${budgetId ?? each.budgetId ?? ''} ${each.currency} ${isTransfer(each.tags)}`,
  );
  for (const some of places.values()) {
    const [{ currency, budgetId: ofRule, tags }] = some as [NewExpense];
    const id = budgetId ?? ofRule;
    // A budget that a rule names may have been deleted since.
    const named = id && (await requireBudget(session, owner, id).catch(budgetId ? rethrow : ignoreMissing));
    const isFit = named && (budgetId !== null || named.currency === currency);
    const budget = isFit ? named : await unassignedIn(transaction, currency, tags);
    const known = [...placed.keys()].find(({ number }) => number === budget.number) ?? budget;
    placed.set(known, [...(placed.get(known) ?? []), ...some]);
  }
  return placed;
}

function rethrow(error: unknown): never {
  throw error;
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
}
