import type { RawJson } from '@octavo/core/text';
import { toExact } from '@octavo/documents/values';
import type { Caller, Context } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import type { PeriodKind } from '../money/periods.ts';
import type { PeriodSpending } from './budget.ts';
import { spansOfMany, spendingOfBudgets } from './spending.ts';
import { budgetsWithIds } from './store.ts';
import { periodNamed } from './terms/terms.ts';

export interface Spending {
  readonly spent: number | RawJson;
  readonly remaining: number | RawJson;
}

/**
 * Returns the spending of the caller's budgets in a named period, by id; an error for those whose periods have no such name.
 * The number of statements does not grow with the number of budgets.
 */
export async function findSpending(
  { db }: Context,
  { owner }: Caller,
  ids: readonly string[],
  periodName: string,
): Promise<Map<string, Spending | Error>> {
  return db.read(async (session) => {
    const rows = await budgetsWithIds(session, owner, ids);
    const spans = await spansOfMany(session, rows);
    const placed = rows.flatMap((budget) => {
      const own = spans.get(budget.number) ?? [];
      const found = periodNamed(own, periodName);
      return found ? [{ budget, spans: own, ...found }] : [];
    });
    const standings = await spendingOfBudgets(session, placed);
    const found = new Map<string, Spending | Error>(
      rows.map(({ id, period }) => [id, unknownPeriod(period)]),
    );
    for (const { budget, terms } of placed) {
      const standing = standings.get(budget.number);
      if (standing) found.set(budget.id, spendingOf(terms.limit_minor, budget.currency, standing));
    }
    return found;
  });
}

function spendingOf(limit: number, currency: string, { spent, carried }: PeriodSpending): Spending {
  return {
    spent: toExact(spent, currency),
    remaining: toExact(BigInt(limit) + carried - spent, currency),
  };
}

function unknownPeriod(kind: PeriodKind): Error {
  return invalid({ period: `must be the name of a period of this budget, which is ${kind}` });
}
