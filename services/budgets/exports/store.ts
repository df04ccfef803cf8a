import type { Session } from '@octavo/data';
import { withBudget } from '../expenses/index.ts';
import type { Tables } from '../store/tables.ts';

export interface ExportRange {
  readonly owner: number;
  readonly from: string;
  readonly to: string;
  readonly firstBudget: number;
  readonly lastBudget: number;
}

/** A query for all expenses of a range: by day, or by budget and then by day. */
export function exportedExpenses({ kysely }: Session<Tables>, range: ExportRange, isByBudget: boolean) {
  return withBudget(kysely)
    .select('b.name as budget_name')
    .where('e.owner', '=', range.owner)
    .where('e.spent_on', '>=', range.from)
    .where('e.spent_on', '<=', range.to)
    .where('e.budget', '>=', range.firstBudget)
    .where('e.budget', '<=', range.lastBudget)
    .$if(isByBudget, (expenses) => expenses.orderBy('e.budget'))
    .orderBy('e.spent_on')
    .orderBy('e.number');
}
