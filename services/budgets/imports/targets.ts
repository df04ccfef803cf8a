import { AppError } from '@octavo/core';
import { isCurrency } from '@octavo/documents/values';
import {
  accessTo,
  checkRight,
  isTransfer,
  listBudgets,
  readableBudget,
  requireBudget,
  unassignedIn,
} from '../budgets/index.ts';
import type { AccountTransaction, Caller, Context } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import type { NewExpense } from '../expenses/index.ts';
import type { BudgetRow } from '../store/tables.ts';

interface Target {
  readonly budgetId?: string | null | undefined;
  readonly currency?: string | undefined;
}

/** The account whose expenses an import adds; its budget, if it is shared with the caller: nothing else of the account is looked at. */
export interface ImportScope {
  readonly owner: number;
  readonly sharedBudget: number | undefined;
}

/** The scope of an import into a budget. Throws `not_found`, or `forbidden` for a budget that the caller may only read. */
export async function scopeOfImport(
  { db }: Context,
  { owner }: Caller,
  { budgetId }: Pick<Target, 'budgetId'>,
): Promise<ImportScope> {
  if (!budgetId) return { owner, sharedBudget: undefined };
  const budget = await readableBudget(db, owner, budgetId);
  checkRight(budget.member_role ?? 'owner', 'write');
  return { owner: budget.owner, sharedBudget: budget.member_role && budget.number };
}

/** The currency of an import into a budget; without one, any, and that of rows that name none. Throws `not_found`. */
export async function currenciesOf(
  context: Context,
  caller: Caller,
  { budgetId, currency }: Target,
): Promise<{ readonly currency: string; readonly anyCurrency: boolean }> {
  if (budgetId) {
    const { currency } = await readableBudget(context.db, caller.owner, budgetId);
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
    const named =
      budgetId === null
        ? id && (await requireBudget(session, owner, id).catch(ignoreMissing))
        : await accessTo(transaction, budgetId, 'write');
    const isFit = named && (budgetId !== null || named.currency === currency);
    const budget = isFit ? named : await unassignedIn(transaction, currency, tags);
    const known = [...placed.keys()].find(({ number }) => number === budget.number) ?? budget;
    placed.set(known, [...(placed.get(known) ?? []), ...some]);
  }
  return placed;
}

function ignoreMissing(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
}
