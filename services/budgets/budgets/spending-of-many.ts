import { isoDay } from '@octavo/core';
import type { RawJson } from '@octavo/core/text';
import { toExact } from '@octavo/documents/values';
import type { Caller, Context } from '../commands.ts';
import { invalid } from '../edges/schema-parser.ts';
import { type PeriodKind, parsePeriod } from '../money/periods.ts';
import type { PeriodSpending } from './budget.ts';
import { spendingOfBudgets } from './spending.ts';
import { budgetsWithIds } from './store.ts';

export interface Spending {
  readonly spent: number | RawJson;
  readonly remaining: number | RawJson;
}

/**
 * Returns the spending of the caller's budgets in a named period, by id; an error for those whose periods have no such name.
 * The number of statements grows with the kinds of periods, not with the number of budgets.
 */
export async function findSpending(
  { db, clock }: Context,
  { owner }: Caller,
  ids: readonly string[],
  periodName: string,
): Promise<Map<string, Spending | Error>> {
  return db.read(async (session) => {
    const found = new Map<string, Spending | Error>();
    const rows = await budgetsWithIds(session, owner, ids);
    for (const [kind, some] of Map.groupBy(rows, ({ period }) => period as PeriodKind)) {
      const period = parsePeriod(kind, periodName);
      const day = period?.from ?? isoDay(clock.now());
      const standings = period ? await spendingOfBudgets(session, some, day) : undefined;
      for (const row of some) {
        const standing = standings?.get(row.number);
        found.set(row.id, standing ? spendingOf(row, standing) : unknownPeriod(kind));
      }
    }
    return found;
  });
}

function spendingOf(
  { limit_minor, currency }: { limit_minor: number; currency: string },
  { spent, carried }: PeriodSpending,
): Spending {
  return {
    spent: toExact(spent, currency),
    remaining: toExact(BigInt(limit_minor) + carried - spent, currency),
  };
}

function unknownPeriod(kind: PeriodKind): Error {
  return invalid({ period: `must be the name of a period of this budget, which is ${kind}` });
}
