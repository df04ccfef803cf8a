import { isoDay } from '#kit/iso-time.ts';
import { invalid } from '#kit/schema-parser.ts';
import type { Caller, Core } from '../commands.ts';
import { toMajor } from '../money.ts';
import { type PeriodKind, parsePeriod } from '../periods.ts';
import { standingsOf } from './spending.ts';
import { budgetsWithIds } from './store.ts';

export interface Spending {
  readonly spent: number;
  readonly remaining: number;
}

/**
 * What budgets of the caller have spent in the period with a name, by id; an error for those whose periods have no such name. The number
 * of statements grows with the kinds of periods, not with the number of budgets.
 */
export async function findSpending(
  { db, clock }: Core,
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
      const standings = period ? await standingsOf(session, some, day) : undefined;
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
  { spent, carried }: { spent: number; carried: number },
): Spending {
  return {
    spent: toMajor(spent, currency),
    remaining: toMajor(limit_minor + carried - spent, currency),
  };
}

function unknownPeriod(kind: PeriodKind): Error {
  return invalid({ period: `must be the name of a period of this budget, which is ${kind}` });
}
