import type { BudgetRow, Store } from '../store/tables.ts';

/** Adds a hidden budget of expenses without one, unless there is one in this currency. */
export async function insertUnassigned(
  { kysely }: Store,
  given: Pick<BudgetRow, 'id' | 'owner' | 'currency' | 'unassigned' | 'start_date' | 'created_at_ms'>,
): Promise<void> {
  await kysely
    .insertInto('budget')
    .values({
      ...given,
      name: given.unassigned === 1 ? 'Unassigned' : 'Transfers',
      limit_minor: 0,
      period: 'none',
      period_day: 1,
      rollover: 'none',
      thresholds: '[]',
      spent_minor: 0,
      spent_high: 0,
      expenses: 0,
      shared: 0,
      updated_at_ms: given.created_at_ms,
      version: 1,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The hidden budgets of unassigned expenses (1) or transfers (2). */
export function unassignedBudgets({ kysely }: Store, owner: number, unassigned = 1): Promise<BudgetRow[]> {
  return kysely
    .selectFrom('budget')
    .selectAll()
    .where('owner', '=', owner)
    .where('unassigned', '=', unassigned)
    .orderBy('number')
    .execute();
}
