import type { Session } from '@octavo/data';
import { sql } from 'kysely';
import { withBudget } from '../expenses/index.ts';
import type { Tables } from '../store/tables.ts';

export interface ExportRange {
  readonly owner: number;
  readonly from: string;
  readonly to: string;
  readonly budgets: readonly number[] | undefined;
}

/** A query for all expenses of a range: by day, or by budget and then by day. */
export function exportedExpenses({ kysely }: Session<Tables>, range: ExportRange, isByBudget: boolean) {
  return withBudget(kysely, range.owner)
    .select(sql<string | null>`CASE b.unassigned WHEN 0 THEN b.name END`.as('budget_name'))
    .where('e.owner', '=', range.owner)
    .where('e.spent_on', '>=', range.from)
    .where('e.spent_on', '<=', range.to)
    .$if(range.budgets !== undefined, (rows) => rows.where('e.budget', 'in', range.budgets as number[]))
    .$if(isByBudget, (expenses) => expenses.orderBy('e.budget'))
    .orderBy('e.spent_on')
    .orderBy('e.number');
}
