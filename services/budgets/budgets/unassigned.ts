import { isoDay, newOrderedId } from '@octavo/core';
import { withoutAccents } from '@octavo/core/text';
import { isCurrency } from '@octavo/documents/values';
import type { AccountTransaction } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import type { BudgetRow, Store } from '../store/tables.ts';
import { accessTo, enter, readableBudget } from './access/access.ts';
import type { AccessedBudget } from './access/store.ts';
import { insertUnassigned, unassignedBudgets } from './store-unassigned.ts';

/** Name of a budget in a filter, in place of an id: expenses without a budget. */
export const noBudget = 'none';

/** Tag of an expense without a budget that is a transfer between own accounts. */
export const transferTag = 'transfer';
/** A transfer in place of a budget, in forms, and its name for people. */
export const transferChoice = { value: 'transfer', name: 'Between my own accounts' } as const;

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

/** The account whose expenses a filter is about, and its budgets; undefined for all of them. */
export interface Scope<B = AccessedBudget> {
  readonly owner: number;
  readonly budgets: B[] | undefined;
}

/**
 * The scope of a filter: the budget with an id, which may be shared with the account; unassigned expenses by {@link noBudget}; without a
 * name, the account's own expenses. Throws `not_found`.
 */
export async function scopeOf(session: Store, account: number, id: string | undefined): Promise<Scope> {
  if (id === undefined) return { owner: account, budgets: undefined };
  if (id === noBudget) return { owner: account, budgets: await unassignedBudgets(session, account) };
  const row = await readableBudget(session, account, id);
  return { owner: row.owner, budgets: [row] };
}

const noNumber = -1;

/** The scope of a filter with the numbers of its budgets. There is always one, since SQL has no empty lists. */
export async function numberedScope(
  session: Store,
  account: number,
  id: string | undefined,
): Promise<Scope<number>> {
  const { owner, budgets } = await scopeOf(session, account, id);
  return { owner, budgets: budgets?.length === 0 ? [noNumber] : budgets?.map(({ number }) => number) };
}

/**
 * Has a command go on in the account that a filter is about. Throws `not_found`, or `forbidden` if the actor may not write there.
 */
export async function enterScope(transaction: AccountTransaction, id: string | undefined): Promise<void> {
  if (id === undefined || id === noBudget) enter(transaction, { owner: transaction.actor }, 'write');
  else await accessTo(transaction, id, 'write');
}

/** The id of a budget as others know it; null for a hidden one. */
export function idOfBudget({ id, unassigned }: Pick<BudgetRow, 'id' | 'unassigned'>): string | null {
  return unassigned === 0 ? id : null;
}
