import { isoDay, newOrderedId } from '@octavo/core';
import { withoutAccents } from '@octavo/core/text';
import { isCurrency } from '@octavo/documents/values';
import type { AccountTransaction } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import type { BudgetRow, Store } from '../store/tables.ts';
import { requireBudget } from './budgets.ts';
import { insertUnassigned, unassignedBudgets } from './store-unassigned.ts';

/** Name of a budget in a filter, in place of an id: expenses without a budget. */
export const noBudget = 'none';

/** Tag of an expense without a budget that is a transfer between own accounts. */
export const transferTag = 'transfer';

export function isTransfer(tags: readonly string[]): boolean {
  return tags.some((tag) => withoutAccents(tag).trim() === transferTag);
}

/**
 * The hidden budget of an account's expenses without a budget in a currency, which is created with the first of them. Those that are tagged
 * as transfers have one of their own, which counts in no report.
 */
export async function unassignedIn(
  { session, owner, nowMs }: AccountTransaction,
  currency: string,
  tags: readonly string[],
): Promise<BudgetRow> {
  const unassigned = isTransfer(tags) ? 2 : 1;
  if (!isCurrency(currency))
    throw invalid({ currency: 'must be the code of a currency (ISO 4217), such as USD' });
  const find = async () =>
    (await unassignedBudgets(session, owner, unassigned)).find((row) => row.currency === currency);
  const found = await find();
  if (found) return found;
  await insertUnassigned(session, {
    id: newOrderedId(),
    owner,
    currency,
    unassigned,
    start_date: isoDay(nowMs),
    created_at_ms: nowMs,
  });
  return (await find()) as BudgetRow;
}

/**
 * The budgets that a filter names: the one with an id, those of unassigned expenses by {@link noBudget}, undefined without a name. Throws
 * `not_found`.
 */
export async function budgetsNamed(
  session: Store,
  owner: number,
  id: string | undefined,
): Promise<BudgetRow[] | undefined> {
  if (id === undefined) return undefined;
  return id === noBudget ? unassignedBudgets(session, owner) : [await requireBudget(session, owner, id)];
}

const noNumber = -1;

/** The numbers of {@link budgetsNamed}. There is always one, since SQL has no empty lists. */
export async function budgetNumbers(
  session: Store,
  owner: number,
  id: string | undefined,
): Promise<number[] | undefined> {
  const rows = await budgetsNamed(session, owner, id);
  return rows?.length === 0 ? [noNumber] : rows?.map(({ number }) => number);
}

/** The id of a budget as others know it; null for a hidden one. */
export function idOfBudget({ id, unassigned }: Pick<BudgetRow, 'id' | 'unassigned'>): string | null {
  return unassigned === 0 ? id : null;
}
